import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { describe, expect, it } from "vitest";
import { openWorld, type World } from "./testing/world.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { clicksOf } from "./testing/rows.ts";

/** A world whose engine can be killed, and started again where it was. */
interface MortalWorld extends World {
  readonly dataDir: string;
  readonly server: () => LocalServer;
  readonly restart: () => Promise<void>;
}

async function openMortalWorld(): Promise<MortalWorld> {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await tempDir());
  let server = await startClickHouse({ dataDir, log: silentLog });
  stack.defer(() => server[Symbol.asyncDispose]());
  const { port } = server;
  const world = stack.use(await openWorld(server.url));
  const opened = stack.move();
  return {
    ...world,
    dataDir,
    server: () => server,
    restart: async () => {
      await server.exited;
      server = await startClickHouse({ dataDir, port, log: silentLog });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describe("with the engine killed", () => {
  it("in the middle of inserts, every batch is stored once", async () => {
    await using world = await openMortalWorld();
    const { store, options, count } = world;
    const random = seeded(20_261_130);
    const run = uuidv7();
    const [kills, batch] = [15, 1_000];
    for (let kill = 0; kill < kills; kill += 1) {
      const inserted = store.insertClicks(clicksOf(run, batch, { fromSeq: kill * batch + 1 }), options);
      // An insert takes about 40 ms.
      await delay(random() * 60);
      world.server().kill("SIGKILL");
      await world.restart();
      await inserted;
    }
    const rows = kills * batch;
    expect(await count(run)).toEqual({ rows, events: rows, visible: rows });
    // A restart takes a second, and several on a machine that is busy.
  }, 240_000);

  it("between an insert's token and its part, the batch is stored once all the same", async ({ skip }) => {
    if (spawnSync("strace", ["-V"]).error !== undefined) {
      process.stderr.write("\n!!! SKIPPED: killing the engine between token and part: strace is missing\n");
      skip("strace is missing");
    }
    await using world = await openMortalWorld();
    const { store, options, count, counter } = world;
    const run = uuidv7();
    await store.insertClicks(clicksOf(run, 10), options);

    // With its merges held back, the engine renames nothing but a part that an insert has written.
    await killAtNextRename(world.server().pid);
    const inserted = store.insertClicks(clicksOf(run, 1_000, { fromSeq: 11 }), options);
    await world.restart();
    await inserted;
    // The engine acknowledged the retry and had nothing. Should it be 0 one day, the engine has learnt better.
    expect(await counter("click_store_read_back_missing_rows_total")).toBe(1_000);
    expect(await count(run)).toEqual({ rows: 1_010, events: 1_010, visible: 1_010 });
  });

  it("with a token on disk whose part is not, the batch is stored once all the same", async () => {
    await using world = await openMortalWorld();
    const { store, options, count, proxy, dataDir } = world;
    const run = uuidv7();
    proxy.faults.push({ kind: "answer lost" });
    const { promise: failed, resolve } = Promise.withResolvers<void>();
    const inserted = store.insertClicks(clicksOf(run, 1_000), {
      ...options,
      onTrouble: () => {
        world.server().kill("SIGKILL");
        resolve();
      },
    });
    await failed;
    await world.server().exited;
    await removeParts(dataDir);
    await world.restart();
    await inserted;
    expect(await count(run)).toEqual({ rows: 1_000, events: 1_000, visible: 1_000 });
  });
});

/** Resolves when a tracer is attached that kills the process at its next `rename`, before it is carried out. */
async function killAtNextRename(pid: number): Promise<void> {
  const inject = "inject=rename,renameat,renameat2:error=EIO:signal=SIGKILL";
  const tracer = spawn(
    "strace",
    ["-f", "-e", "trace=rename,renameat,renameat2", "-e", inject, "-p", `${pid}`],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  // "strace: Process … attached"
  await once(tracer.stderr, "data");
  tracer.stderr.resume();
}

/** Of click_events, the only table that has any. */
async function removeParts(dataDir: string): Promise<void> {
  const files = await readdir(dataDir, { recursive: true });
  const log = files.find((name) => name.endsWith("deduplication_logs/deduplication_log_1.txt"));
  if (log === undefined) throw new Error("no token was written");
  const table = join(dataDir, log, "../..");
  for (const name of await readdir(table)) {
    if (/^\d{6}_/.test(name)) await rm(join(table, name), { recursive: true });
  }
}

/** Numbers from 0 up to 1, the same ones each time (a linear congruential generator). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
