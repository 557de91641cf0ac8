import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { join } from "node:path";

import { createClient } from "@clickhouse/client";
import { silentLog } from "@sluice/service/log.ts";
import { describe, expect, it } from "vitest";

import { startClickHouse } from "./clickhouse.ts";
import { isAlive } from "./process-table.ts";
import { refusal } from "./refusal.fixture.ts";
import type { LocalServer } from "./server.ts";
import { testDir } from "./test-dir.fixture.ts";

const log = silentLog;

async function ask(server: LocalServer, query: string): Promise<string> {
  const response = await fetch(server.url, { method: "POST", body: query });
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer.trim();
}

describe("a ClickHouse server", () => {
  it("keeps its rows over a clean stop, and leaves nothing running", async () => {
    await using dir = await testDir();
    const first = await startClickHouse({ dataDir: dir.path, log });
    await ask(first, "CREATE DATABASE d");
    for (const table of ["t", "d.t"]) {
      await ask(first, `CREATE TABLE ${table} (id UInt64) ENGINE = MergeTree ORDER BY id`);
      await ask(first, `INSERT INTO ${table} VALUES (1)`);
    }
    await first[Symbol.asyncDispose]();
    await first.exited;
    expect(isAlive(first.pid)).toBe(false);
    await using second = await startClickHouse({ dataDir: dir.path, port: first.port, log });
    expect(second.url).toBe(first.url);
    expect(await ask(second, "SELECT count() FROM t JOIN d.t AS other USING id")).toBe("1");
  });

  it("has every acknowledged row after kill -9 in the middle of inserts, on the same directory and port", async () => {
    await using dir = await testDir();
    let server = await startClickHouse({ dataDir: dir.path, log });
    const { port } = server;
    await ask(
      server,
      `CREATE TABLE t (id UInt64) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100`,
    );
    let acknowledged = 0;
    for (let kill = 0; kill < 3; kill++) {
      const until = acknowledged + 20;
      try {
        for (;;) {
          await insert(server, acknowledged);
          acknowledged++;
          // The signal meets the next insert somewhere.
          if (acknowledged === until) server.kill("SIGKILL");
        }
      } catch {
        await server.exited;
      }
      server = await startClickHouse({ dataDir: dir.path, port, log });
      // Their tokens are known as well.
      await insert(server, acknowledged - 1);
      const rows = acknowledged * 100;
      expect(await ask(server, `SELECT count(), uniqExact(id) FROM t WHERE id < ${rows}`)).toBe(
        `${rows}\t${rows}`,
      );
    }
    await server[Symbol.asyncDispose]();
    expect(acknowledged).toBe(60);
  });

  it("left over by a killed supervisor is stopped by the next start", async () => {
    await using dir = await testDir();
    const supervisor = spawn(
      process.execPath,
      [join(import.meta.dirname, "supervisor.fixture.ts"), "clickhouse", dir.path],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [pid] = (await once(supervisor.stdout, "data")).map((chunk: unknown) => Number(String(chunk)));
    // While the supervisor lives the directory is its own.
    expect(await refusal(startClickHouse({ dataDir: dir.path, log }))).toBe(
      `in-use: ${dir.path} is in use: clickhouse (process ${pid}), started by process ${supervisor.pid}`,
    );
    supervisor.kill("SIGKILL");
    await once(supervisor, "exit");
    expect(isAlive(pid ?? 0)).toBe(true);
    await using server = await startClickHouse({ dataDir: dir.path, log });
    expect(isAlive(pid ?? 0)).toBe(false);
    expect(await ask(server, "SELECT 1")).toBe("1");
  });

  it("says which port is in use", async () => {
    await using dir = await testDir();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    expect(await refusal(startClickHouse({ dataDir: dir.path, port, log }))).toBe(
      `port: clickhouse: port ${port} on 127.0.0.1 cannot be used: it is in use`,
    );
    other.close();
  });

  it("says which directory it cannot use, and why", async () => {
    await using dir = await testDir();
    const file = join(dir.path, "file");
    writeFileSync(file, "");
    expect(await refusal(startClickHouse({ dataDir: join(file, "data"), log }))).toContain(
      `data-dir: clickhouse: cannot write to ${join(file, "data")}: ENOTDIR`,
    );
    const mark = join(dir.path, "sluice-service");
    for (const [content, why] of [
      ["clickhouse 99.1.0\n", "99.1.0"],
      ["postgres 18.4.0\n", "postgres"],
      ["", "names no service"],
    ] as const) {
      writeFileSync(mark, content);
      expect(await refusal(startClickHouse({ dataDir: dir.path, log }))).toMatch(
        new RegExp(`^data-dir: .*${why}`),
      );
    }
    expect(existsSync(join(dir.path, "data"))).toBe(false);
  });

  it("that cannot start is an error with the end of its log", async () => {
    await using dir = await testDir();
    writeFileSync(join(dir.path, "data"), "no directory");
    expect(await refusal(startClickHouse({ dataDir: dir.path, log }))).toMatch(
      /^start: clickhouse ended.*\n.*data/s,
    );
  });

  it("finishes what runs when it is told to stop, and then ends by itself", async () => {
    await using dir = await testDir();
    // One that has to be killed in the end is worth a warning.
    const warnings: string[] = [];
    const attentive = { ...log, warn: (_: unknown, message: string) => warnings.push(message) };
    const server = await startClickHouse({ dataDir: dir.path, log: attentive });
    await using client = createClient({ url: server.url });
    const running = client.query({ query: "SELECT sleep(1) AS slept", format: "JSONEachRow" });
    await expect
      .poll(() => ask(server, "SELECT count() FROM system.processes WHERE query LIKE '%slept%'"))
      .toBe("2");
    const stopped = server[Symbol.asyncDispose]();
    expect(await (await running).json()).toEqual([{ slept: 0 }]);
    await stopped;
    expect(warnings).toEqual([]);
  });

  it("refuses pages of other sites, also those that call it by a name of theirs", async () => {
    await using dir = await testDir();
    await using server = await startClickHouse({ dataDir: dir.path, log });
    expect(await statusOf(server, { "Sec-Fetch-Site": "cross-site" })).toBe(403);
    expect(await statusOf(server, { "Sec-Fetch-Site": "same-site" })).toBe(403);
    expect(await statusOf(server, { Host: "evil.example:8123" })).toBe(403);
    expect(await statusOf(server, { Host: "localhost.evil.example" })).toBe(403);
    for (const Host of ["localhost", "localhost:8123", "127.0.0.1", "[::1]:8123"])
      expect(await statusOf(server, { "Sec-Fetch-Site": "same-origin", Host })).toBe(200);
    // No page can hide where it comes from behind another path.
    const response = await fetch(`${server.url}/ping?query=SELECT+1`);
    expect(await response.text()).toBe("Ok.\n");
  });

  it("a query that takes too much memory fails, and the server goes on", async () => {
    await using dir = await testDir();
    await using server = await startClickHouse({ dataDir: dir.path, log });
    const greedy =
      "SELECT length(range(toUInt64(400000000))) SETTINGS function_range_max_elements_in_block = 1000000000";
    await expect(ask(server, greedy)).rejects.toThrow("MEMORY_LIMIT_EXCEEDED");
    expect(await ask(server, "SELECT 1")).toBe("1");
  });
});

/** A hundred rows, under a token that their number decides. */
function insert(server: LocalServer, batch: number): Promise<string> {
  return ask(
    server,
    `INSERT INTO t SETTINGS insert_deduplication_token = 'batch ${batch}'
     SELECT number + ${100 * batch} FROM numbers(100)`,
  );
}

async function statusOf(server: LocalServer, headers: Record<string, string>) {
  const sent = request(`${server.url}/?query=SELECT+1`, { headers }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).once("error", reject);
  });
  response.resume();
  await once(response, "end");
  return response.statusCode;
}
