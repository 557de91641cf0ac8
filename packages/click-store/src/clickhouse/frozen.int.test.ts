import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { expect, test } from "vitest";
import { uuidv7 } from "../testing/clicks.ts";
import { encodeNative } from "./native.ts";
import { openClickHouse } from "./open.ts";
import { insertClicksQuery, sentColumns } from "./queries/click-events.ts";
import { clicksOf } from "./testing/rows.ts";
import { never, openWorld } from "./testing/world.ts";

test("inserts of dead owners that a frozen server has not begun are waited for", async ({ skip }) => {
  await using service = await testClickHouse();
  const { server } = service;
  if (server === undefined) {
    skip("a server of somebody else's is not stopped");
    return;
  }
  await using world = await openWorld(server.url);
  const run = uuidv7();
  const [inserts, rows] = [20, 2_000];
  // Its connection is there, which is the quickest way in.
  await using store = openClickHouse(world.url, { log: silentLog, metrics: createMetrics() });
  await store.ping();

  server.kill("SIGSTOP");
  const dead = await Promise.all(
    Array.from({ length: inserts }, (_, index) =>
      sendInsert(world.url, clicksOf(run, rows, { fromSeq: index * rows + 1 })),
    ),
  );
  await Promise.all(dead.map(hangUp));
  const settled = store.earlierInsertsSettled(never);
  // Its question waits at the server, behind the inserts.
  await delay(1_000);
  server.kill("SIGCONT");
  await settled;
  expect(await world.count(run)).toMatchObject({ rows: inserts * rows });
});

/** Over a connection of its own, whole, without waiting for the answer. */
async function sendInsert(url: string, clicks: ReturnType<typeof clicksOf>): Promise<Socket> {
  const { port, pathname } = new URL(url);
  const body = Buffer.concat([
    ...encodeNative(
      sentColumns,
      clicks.map(({ line }) => line),
    ),
  ]);
  const parameters = new URLSearchParams({
    query: insertClicksQuery,
    database: pathname.slice(1),
    log_comment: `sluice-ingester/dead/${randomUUID()}`,
  });
  const head = [
    `POST /?${parameters.toString()} HTTP/1.1`,
    "Host: localhost",
    `Content-Length: ${body.length}`,
  ];
  const socket = connect(Number(port), "127.0.0.1");
  await promisify<Buffer, void>((data, done) => socket.write(data, done))(
    Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]),
  );
  return socket;
}

async function hangUp(socket: Socket): Promise<void> {
  socket.destroy();
  await once(socket, "close");
}
