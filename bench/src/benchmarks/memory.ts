import { openJournalBacklog } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { openEngine } from "../click-tables.ts";
import { catchUpOn } from "../ingestion.ts";

const peak = { name: "ingester-memory", unit: "MB", goal: { atMost: 256 } };
const rate = { name: "catch-up-2M", unit: "events/s" };

/**
 * The most memory an ingester takes while it catches up for long. Once: a peak is no figure that a median makes
 * surer, and `catch-up` has seven shorter ones.
 */
export const memory: Benchmark = {
  name: "memory",
  figures: [peak, rate],
  async run(bench) {
    await using backlog = await openJournalBacklog(Math.round(2_000_000 * bench.scale), bench);
    await using engine = await openEngine(bench);
    const { peakBytes, eventsPerSecond } = await catchUpOn(backlog, { engine, name: "memory" }, bench);
    bench.recordSingle(rate.name, eventsPerSecond);
    if (peakBytes === undefined) bench.note("this system does not tell a process's peak memory");
    else bench.recordSingle(peak.name, peakBytes / 1e6);
  },
};
