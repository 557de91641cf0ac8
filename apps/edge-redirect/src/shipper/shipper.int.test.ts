import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics, type Metrics } from "@sluice/service/metrics.ts";
import { type TempDir, tempDir } from "@sluice/testkit/temp-dir.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { startShipper } from "./shipper.ts";

const topic = "clicks";
let dir: TempDir;
beforeEach(async () => {
  dir = await tempDir();
});
afterEach(() => dir[Symbol.asyncDispose]());

const urlOf = (name: string) => `journal://${join(dir.path, name)}?groups=shipper,check&reserveBytes=0`;
const deps = { log: silentLog, metrics: createMetrics() };

async function journal(...values: number[]): Promise<void> {
  await using log = await openEventLog(urlOf("edge"), deps);
  await log.append(
    topic,
    values.map((value) => ({ key: "run", value: Buffer.from(String(value)) })),
  );
}

async function shipped(): Promise<number[]> {
  await using log = await openEventLog(urlOf("log"), deps);
  const { signal } = new AbortController();
  await using reader = await log.open(topic, { group: "check", until: "now", signal });
  const values: number[] = [];
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 1000, maxBytes: 1e6, maxWaitMs: 0 });
    if (batch === undefined) return values;
    values.push(...batch.records.map(({ value }) => Number(Buffer.from(value))));
    await batch.commit();
  }
}

interface Trial {
  readonly shipper: AsyncDisposable;
  readonly metrics: Metrics;
  /** What health is told, without repetitions. */
  readonly reasons: (string | undefined)[];
}

function start(eventLogUrl = urlOf("log"), drainMs = 5_000): Trial {
  const metrics = createMetrics();
  const reasons: (string | undefined)[] = [];
  const shipper = startShipper({
    task: {
      journalUrl: urlOf("edge"),
      eventLogUrl,
      topic,
      group: "shipper",
      setAsidePath: join(dir.path, "set-aside.ndjson"),
      logLevel: "silent",
    },
    drainMs,
    health: { degraded: (_name, reason) => void (reasons.at(-1) !== reason && reasons.push(reason)) },
    log: silentLog,
    metrics,
  });
  return { shipper, metrics, reasons };
}

async function counted({ metrics }: Trial, name: string): Promise<number> {
  const { body } = await metrics.render();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(body)?.[1]);
}

describe("the shipper's thread", () => {
  it("copies what is there and what comes, and its figures are the service's", async () => {
    await journal(1, 2, 3);
    const trial = start();
    await expect.poll(() => counted(trial, "edge_shipped_records_total"), { timeout: 20_000 }).toBe(3);
    await journal(4);
    await expect.poll(() => counted(trial, "edge_shipped_records_total"), { timeout: 20_000 }).toBe(4);
    expect(await counted(trial, "edge_oldest_unshipped_seconds")).toBe(0);
    // Counted in the thread, by the journal.
    expect(await counted(trial, "journal_read_records_total")).toBe(4);
    await trial.shipper[Symbol.asyncDispose]();
    expect(await shipped()).toEqual([1, 2, 3, 4]);
  });

  it("told to stop, ships what is in the journal by then", async () => {
    const trial = start();
    const values = Array.from({ length: 20_000 }, (_, index) => index);
    await journal(...values);
    await trial.shipper[Symbol.asyncDispose]();
    expect(await shipped()).toEqual(values);
  });

  it("that dies is started again, health says so meanwhile, and nothing is lost", async () => {
    const format = join(dir.path, "log", topic, "FORMAT");
    await mkdir(join(format, ".."), { recursive: true });
    await writeFile(format, "2");
    await journal(1, 2);
    const trial = start();
    await expect.poll(() => trial.reasons.at(-1), { timeout: 20_000 }).toContain("format 2");
    await rm(format);
    await expect.poll(() => counted(trial, "edge_shipped_records_total"), { timeout: 60_000 }).toBe(2);
    expect(trial.reasons.at(-1)).toBeUndefined();
    await trial.shipper[Symbol.asyncDispose]();
    expect(await shipped()).toEqual([1, 2]);
  });

  it("leaves in time though the log is away, says why it waits, and the next one ships what is left", async () => {
    await journal(1);
    const trial = start("kafka://127.0.0.1:1", 300);
    await expect.poll(() => trial.reasons.at(-1), { timeout: 30_000 }).toContain("127.0.0.1:1");
    const startedAt = performance.now();
    await trial.shipper[Symbol.asyncDispose]();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await start().shipper[Symbol.asyncDispose]();
    expect(await shipped()).toEqual([1]);
  });
});
