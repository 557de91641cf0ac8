import { openJournalBacklog } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { openEngine } from "../click-tables.ts";
import { catchUpOn } from "../ingestion.ts";

const rate = { name: "catch-up-journal", unit: "events/s", goal: { atLeast: 75_000 } };

/** One ingester with a backlog in the journal, and the ClickHouse engine beside it. */
export const catchUp: Benchmark = {
  name: "catch-up",
  figures: [rate],
  async run(bench) {
    await using backlog = await openJournalBacklog(Math.round(500_000 * bench.scale), bench);
    await using engine = await openEngine(bench);
    const rates: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      const { eventsPerSecond } = await catchUpOn(backlog, { engine, name: `round${round}` }, bench);
      rates.push(eventsPerSecond);
    }
    bench.record(rate.name, rates);
  },
};
