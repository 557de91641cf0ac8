import type { EventLog } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { clickRecord, sampleClick } from "./sample-clicks.ts";

// For tests of the process.

/** Numbers from 0 up to 1, the same at each run of a test. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A journal of its own for a test, and clicks of one run to append to it. */
export async function openJournal() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const url = `journal://${path}?groups=store`;
  const events: EventLog = stack.use(await openEventLog(url, { log: silentLog, metrics: createMetrics() }));
  const opened = stack.move();
  let appended = 0;
  return {
    url,
    log: events,
    appended: () => appended,
    async append(count: number) {
      const clicks = Array.from({ length: count }, (_, index) => sampleClick(1, appended + index + 1));
      await events.append("clicks", clicks.map(clickRecord));
      appended += count;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
