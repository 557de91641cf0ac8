import { join } from "node:path";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import type { Bench } from "./benchmark.ts";
import { type Clicks, createClicks } from "./clicks.ts";
import type { Backlog } from "./ingestion.ts";

export const topic = "clicks";
/** As an edge's shipper sends them when it is behind. */
const recordsPerAppend = 1_000;

/** So many events in a journal, of one edge as on one machine. */
export async function openJournalBacklog(events: number, bench: Bench): Promise<Backlog & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(await tempDir());
  // No group is named, so every one that comes reads all of it.
  const eventLogUrl = `journal://${join(path, "journal")}`;
  await fill(eventLogUrl, createClicks({ edges: 1, total: events }), events, bench.signal);
  const opened = resources.move();
  return { eventLogUrl, events, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/** Appends so many clicks; resolves to how long the appends took, in seconds, without making the clicks. */
export async function fill(
  url: string,
  clicks: Clicks,
  count: number,
  signal: AbortSignal,
  to = topic,
): Promise<number> {
  await using log = await openEventLog(url, { log: silentLog, metrics: createMetrics() });
  let ms = 0;
  for (let left = count; left > 0; left -= recordsPerAppend) {
    signal.throwIfAborted();
    const records = clicks.records(Math.min(left, recordsPerAppend));
    const startedAt = performance.now();
    await log.append(to, records);
    ms += performance.now() - startedAt;
  }
  return ms / 1_000;
}
