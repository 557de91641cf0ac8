import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";

import { silentLog } from "@sluice/service/log.ts";
import { describe, expect, it } from "vitest";

import { isAlive } from "./process-table.ts";
import { startRedis } from "./redis.ts";
import { refusal } from "./refusal.fixture.ts";
import { testDir } from "./test-dir.fixture.ts";

const log = silentLog;
const ask = async (port: number, ...command: string[]) =>
  (await promisify(execFile)("redis-cli", ["-p", `${port}`, ...command])).stdout.trim();

describe("a Redis server", () => {
  it("has what was written after kill -9, on the same directory and port", async () => {
    await using dir = await testDir();
    const first = await startRedis({ dataDir: dir.path, log });
    await ask(first.port, "SET", "a", "1");
    expect(await ask(first.port, "CONFIG", "GET", "maxmemory-policy")).toContain("noeviction");
    first.kill("SIGKILL");
    await first.exited;
    await using second = await startRedis({ dataDir: dir.path, port: first.port, log });
    expect(await ask(second.port, "GET", "a")).toBe("1");
    await second[Symbol.asyncDispose]();
    expect(isAlive(second.pid)).toBe(false);
  });

  it("left over by a killed supervisor is stopped by the next start", async () => {
    await using dir = await testDir();
    const fixture = join(import.meta.dirname, "supervisor.fixture.ts");
    const supervisor = spawn(process.execPath, [fixture, "redis", dir.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [pid = 0] = (await once(supervisor.stdout, "data")).map(Number);
    expect(await refusal(startRedis({ dataDir: dir.path, log }))).toContain(`in-use: ${dir.path}`);
    supervisor.kill("SIGKILL");
    await once(supervisor, "exit");
    expect(isAlive(pid)).toBe(true);
    await using server = await startRedis({ dataDir: dir.path, log });
    expect(isAlive(pid)).toBe(false);
    expect(await refusal(startRedis({ dataDir: join(dir.path, "b"), port: server.port, log }))).toContain(
      "in use",
    );
  });
});
