import { openJournalBacklog } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { openEngine } from "../click-tables.ts";
import { catchUpInRounds } from "../ingestion.ts";

const rate = { name: "catch-up-journal", unit: "events/s", goal: { atLeast: 75_000 } };
const ingester = { name: "catch-up-journal-ingester", unit: "us/event" };
const engine = { name: "catch-up-journal-engine", unit: "us/event" };

/** One ingester with a backlog in the journal, and the ClickHouse engine beside it. */
export const catchUp: Benchmark = {
  name: "catch-up",
  figures: [rate, ingester, engine],
  async run(bench) {
    await using backlog = await openJournalBacklog(Math.round(500_000 * bench.scale), bench);
    await using clickHouse = await openEngine(bench);
    const rounds = await catchUpInRounds(backlog, clickHouse, bench);
    bench.record(
      rate.name,
      rounds.map((round) => round.eventsPerSecond),
    );
    bench.record(
      ingester.name,
      rounds.map((round) => round.ingesterMicroseconds),
    );
    bench.record(
      engine.name,
      rounds.map((round) => round.engineMicroseconds),
    );
  },
};
