import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { silentLog } from "@sluice/service/log.ts";
import { Client } from "pg";
import { describe, expect, it } from "vitest";

import { startPostgres } from "./postgres.ts";
import { isAlive } from "./process-table.ts";
import { refusal } from "./refusal.fixture.ts";
import { testDir } from "./test-dir.fixture.ts";

const log = silentLog;

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe("a Postgres server", () => {
  it("has what it acknowledged after kill -9 with sessions open, on the same directory and port", async () => {
    await using dir = await testDir();
    const first = await startPostgres({ dataDir: dir.path, log });
    const { url, port } = first;
    await ask(url, "CREATE TABLE t (id int)");
    await ask(url, "INSERT INTO t VALUES (1)");
    expect(await ask(url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
    // A busy backend notices only late that its postmaster is gone, and holds the shared memory until then.
    const busy = new Client({ connectionString: url });
    busy.on("error", () => {});
    await busy.connect();
    const query = busy.query("SELECT count(*) FROM generate_series(1, 3000000000)");
    const outcome = query.then(
      () => "done",
      () => "lost",
    );
    first.kill("SIGKILL");
    await first.exited;
    await using second = await startPostgres({ dataDir: dir.path, port, log });
    expect(second.url).toBe(url);
    expect(await ask(url, "SELECT id FROM t")).toEqual([{ id: 1 }]);
    expect(await outcome).toBe("lost");
  });

  it("stops with sessions open, and leaves nothing running", async () => {
    await using dir = await testDir();
    const server = await startPostgres({ dataDir: dir.path, log });
    const idle = new Client({ connectionString: server.url });
    const errors: Error[] = [];
    idle.on("error", (error) => errors.push(error));
    await idle.connect();
    await server[Symbol.asyncDispose]();
    await expect
      .poll(() => errors.map(({ message }) => message))
      .toContain("terminating connection due to administrator command");
    expect(isAlive(server.pid)).toBe(false);
  });

  it("left over by a killed supervisor is stopped by the next start", async () => {
    await using dir = await testDir();
    const fixture = join(import.meta.dirname, "supervisor.fixture.ts");
    const supervisor = spawn(process.execPath, [fixture, "postgres", dir.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [pid = 0] = (await once(supervisor.stdout, "data")).map(Number);
    expect(await refusal(startPostgres({ dataDir: dir.path, log }))).toBe(
      `in-use: ${dir.path} is in use: postgres (process ${pid}), started by process ${supervisor.pid}`,
    );
    supervisor.kill("SIGKILL");
    await once(supervisor, "exit");
    expect(isAlive(pid)).toBe(true);
    await using server = await startPostgres({ dataDir: dir.path, log });
    expect(isAlive(pid)).toBe(false);
    expect(await ask(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("starts where the lock of a killed one names a process that is another program now", async () => {
    await using dir = await testDir();
    const first = await startPostgres({ dataDir: dir.path, log });
    first.kill("SIGKILL");
    await first.exited;
    const other = spawn("sleep", ["60"]);
    const lock = join(dir.path, "cluster", "postmaster.pid");
    writeFileSync(lock, readFileSync(lock, "utf8").replace(/^\d+/, `${other.pid}`));
    await using second = await startPostgres({ dataDir: dir.path, log });
    expect(await ask(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    other.kill();
  });

  it("lets nobody in without the password, which only its owner can read", async () => {
    await using dir = await testDir();
    await using server = await startPostgres({ dataDir: dir.path, log });
    const url = new URL(server.url);
    url.password = "wrong";
    await expect(ask(url.href, "SELECT 1")).rejects.toThrow("password authentication failed");
    expect(statSync(join(dir.path, "password")).mode & 0o777).toBe(0o600);
    expect(url.hostname).toBe("127.0.0.1");
  });

  it("makes its cluster anew when the first attempt was cut off", async () => {
    await using dir = await testDir();
    // What a kill in the middle of initdb leaves.
    mkdirSync(join(dir.path, "cluster.new"));
    writeFileSync(join(dir.path, "cluster.new", "PG_VERSION"), "18\n");
    writeFileSync(join(dir.path, "password"), "of the first attempt");
    await using server = await startPostgres({ dataDir: dir.path, log });
    expect(await ask(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("says what stands in its way: the port, another major version, a directory that cannot be made", async () => {
    await using dir = await testDir();
    await using other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    expect(await refusal(startPostgres({ dataDir: dir.path, port, log }))).toBe(
      `port: postgres: port ${port} on 127.0.0.1 cannot be used: it is in use`,
    );
    writeFileSync(join(dir.path, "sluice-service"), "postgres 17.2.0\n");
    expect(await refusal(startPostgres({ dataDir: dir.path, log }))).toMatch(
      /^data-dir: .* postgres 17\.2\.0, which version 18\./,
    );
    const path = join(dir.path, "sluice-service", "data");
    expect(await refusal(startPostgres({ dataDir: path, log }))).toContain(`cannot write to ${path}`);
  });
});
