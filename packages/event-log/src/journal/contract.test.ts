import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { eventLogContract } from "../contract.ts";
import { openJournalEventLog } from "./event-log.ts";
import { maxRecordBytes } from "./record.ts";

eventLogContract("journal", async () => {
  const dir = await mkdtemp(join(tmpdir(), "sluice-journal-"));
  return {
    open: () =>
      openJournalEventLog(`journal://${dir}?groups=store,fan-out`, {
        log: silentLog,
        metrics: createMetrics(),
      }),
    tooLargeBytes: maxRecordBytes,
    // A cursor reads when it is asked, and keeps no more than the chunk it is in.
    ahead: { limitBytes: 1024 * 1024, bytes: () => 0 },
    // By the segment.
    findsTimeRoughly: true,
    modelRuns: 50,
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true }),
  };
});
