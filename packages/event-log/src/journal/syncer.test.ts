import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import { append, writerDefaults } from "./trial.ts";
import { openJournalWriter } from "./writer.ts";

test("a busy journal is synced once an interval, and not all the time", async () => {
  const dir = await mkdtemp(join(tmpdir(), "sluice-syncer-"));
  const metrics = createMetrics();
  const options = { ...writerDefaults, log: silentLog, metrics, run: "run", fsyncIntervalMs: 100 };
  const writer = await openJournalWriter(dir, options);
  const startedAt = performance.now();
  while (performance.now() - startedAt < 1000) {
    await append(writer, 1, 600);
    await setImmediate();
  }
  const intervals = (performance.now() - startedAt) / options.fsyncIntervalMs;
  await writer[Symbol.asyncDispose]();
  const { body } = await metrics.render();
  const syncs = Number(/^journal_sync_seconds_count (\d+)$/m.exec(body)?.[1]);
  expect(syncs).toBeGreaterThan(2);
  // The last one is that of the closing.
  expect(syncs).toBeLessThanOrEqual(intervals + 1);
  await rm(dir, { recursive: true });
});
