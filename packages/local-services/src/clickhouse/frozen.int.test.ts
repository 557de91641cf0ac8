import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { promisify } from "node:util";

import { silentLog } from "@sluice/service/log.ts";
import { expect, test } from "vitest";

import { startClickHouse } from "../clickhouse.ts";
import { testDir } from "../test-dir.fixture.ts";

test("a frozen server that goes on runs the inserts whose senders are there, and none of the dead's", async () => {
  await using dir = await testDir();
  await using server = await startClickHouse({ dataDir: dir.path, log: silentLog });
  const post = async (text: string) => {
    const response = await fetch(server.url, { method: "POST", body: text });
    expect(response.status).toBe(200);
    return await response.text();
  };
  await post("CREATE TABLE t (id UInt8, filler String) ENGINE = MergeTree ORDER BY id");

  server.kill("SIGSTOP");
  const dead = await Promise.all(Array.from({ length: 20 }, (_, id) => sendInsert(server.port, id)));
  const [living] = await Promise.all([sendInsert(server.port, 20), ...dead.map(hangUp)]);
  server.kill("SIGCONT");
  let answer = "";
  living.on("data", (chunk) => (answer += String(chunk)));
  await expect.poll(() => answer).toMatch(/^HTTP\/1.1 200 /);
  living.destroy();
  // They all came first: by the time that ten more have had their turn, theirs would have come, too.
  for (let count = 0; count < 10; count++) await post('INSERT INTO t FORMAT JSONEachRow {"id":21}');
  expect(await post("SELECT DISTINCT id FROM t ORDER BY id FORMAT CSV")).toBe("20\n21\n");
});

/** Over a connection of its own, whole and as big as a batch, without waiting for the answer. */
async function sendInsert(port: number, id: number): Promise<Socket> {
  const body = JSON.stringify({ id, filler: "x".repeat(1_000_000) });
  const socket = connect(port, "127.0.0.1");
  const head = ["POST /?query=INSERT+INTO+t+FORMAT+JSONEachRow HTTP/1.1", "Host: localhost"];
  const lines = [...head, `Content-Length: ${body.length}`, "", body];
  await promisify<string, void>((data, done) => socket.write(data, done))(lines.join("\r\n"));
  return socket;
}

async function hangUp(socket: Socket): Promise<void> {
  socket.destroy();
  await once(socket, "close");
}
