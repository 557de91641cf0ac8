import { openRollup } from "@sluice/click-store/rollup.ts";
import { openStatistics } from "@sluice/click-store/statistics.ts";
import type { Bench, Benchmark } from "../benchmark.ts";
import { type ClickTables, openEngine } from "../click-tables.ts";

const days = 30;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The range ends within an hour, as "until now" does, and its last two hours are not counted yet. */
const toTs = Date.UTC(2026, 10, 30, 23, 40);
const question = { workspaceId: 1, linkId: 7, fromTs: toTs - days * dayMs, toTs };

/** One link with all the clicks, over thirty days. */
export const statistics: Benchmark = benchmarkOf("statistics", 10_000_000);
/** The same at the size of the goal: it takes a quarter of an hour and 15 GB. */
export const statisticsOfMany: Benchmark = {
  ...benchmarkOf("statistics-100m", 100_000_000),
  onlyWhenNamed: true,
};

function benchmarkOf(name: string, fullRows: number): Benchmark {
  const byHour = { name: `${name}-by-hour`, unit: "ms", goal: { atMost: 200 } };
  const totals = { name: `${name}-totals`, unit: "ms" };
  const top = { name: `${name}-top-countries`, unit: "ms" };
  const inIndia = { name: `${name}-days-india`, unit: "ms" };
  const filtered = { name: `${name}-rows`, unit: "ms" };
  const counting = { name: `${name}-counting`, unit: "s/M rows" };
  return {
    name,
    figures: [byHour, totals, top, inIndia, filtered, counting],
    async run(bench) {
      const rows = Math.round(fullRows * bench.scale);
      bench.note(
        `${rows.toLocaleString("en-US")} clicks of one link in ${days} days; \`rows\` is one day with a filter, past the rollup`,
      );
      await using engine = await openEngine(bench);
      await using tables = await engine.openTables("statistics");
      await fill(tables, rows, bench);
      bench.recordSingle(counting.name, (1e6 * (await countAll(tables, bench))) / rows);
      await tables.query(marks(`hour >= toDateTime(${toTs / 1_000} - 7200)`, "now64(6)"));

      await using asked = await openStatistics(tables.url);
      const { signal } = bench;
      const day = { ...question, fromTs: toTs - dayMs, filters: { country: "DE" } };
      const questions = [
        [byHour, () => asked.series({ ...question, interval: "hour", zone: "UTC" }, signal)],
        [totals, () => asked.totals(question, signal)],
        [top, () => asked.top({ ...question, by: "country", limit: 10 }, signal)],
        [inIndia, () => asked.series({ ...question, interval: "day", zone: "Asia/Kolkata" }, signal)],
        [filtered, () => asked.top({ ...day, by: "browser", limit: 10 }, signal)],
      ] as const;
      const times = new Map<string, number[]>(questions.map(([figure]) => [figure.name, []]));
      for (let round = 0; round < bench.rounds; round += 1)
        for (const [figure, ask] of questions) {
          const startedAt = performance.now();
          await ask();
          times.get(figure.name)?.push(performance.now() - startedAt);
        }
      for (const [figure, rounds] of times) bench.record(figure, rounds);
    },
  };
}

/** Day by day, as clicks come; made by the engine, because an ingester would take half an hour. */
async function fill(tables: ClickTables, rows: number, { signal }: Bench): Promise<void> {
  const inserts = days * 4;
  const perInsert = Math.ceil(rows / inserts);
  const stepMs = (days * dayMs) / inserts / perInsert;
  for (let index = 0; index < inserts; index += 1) {
    signal.throwIfAborted();
    const fromTs = question.fromTs + (index * days * dayMs) / inserts;
    await tables.query(`INSERT INTO click_events (event_id, edge, edge_run, edge_seq, ts, workspace_id, link_id, domain,
        country, visitor, browser, os, device, referrer_channel, referrer_domain, language, method, destination, is_bot, bot)
      SELECT generateUUIDv4(number), 'bench', toUUID('01976f5c-0000-7abc-8def-0123456789ab'), ${index * perInsert} + number + 1,
        fromUnixTimestamp64Milli(toInt64(${fromTs} + number * ${stepMs}), 'UTC') AS ts, 1, 7, 'go.example',
        ['DE', 'US', 'FR', 'IN', 'BR', 'NP', 'JP', 'GB'][1 + (intHash32(number) % 8)],
        hex(sipHash128(toDate(ts), intHash64(number) % ${Math.ceil(rows / days / 3)})),
        ['Chrome', 'Safari', 'Firefox', 'Edge'][1 + (intHash32(number + 1) % 4)],
        ['Windows', 'iOS', 'Android'][1 + (intHash32(number + 2) % 3)],
        ['desktop', 'mobile'][1 + (intHash32(number + 3) % 2)], 'referral', concat('site', toString(intHash32(number + 4) % 200)),
        ['de', 'en', 'fr'][1 + (intHash32(number + 5) % 3)], 'GET', 'https://shop.example/', number % 10 = 0, if(number % 10 = 0, 4, 0)
      FROM numbers(${perInsert})`);
  }
  await tables.query(marks("true", "now64(6) - toIntervalHour(1)"));
}

function marks(where: string, markedAt: string): string {
  return `INSERT INTO click_rollup_marks (workspace_id, hour, marked_at)
    SELECT DISTINCT workspace_id, toStartOfHour(ts) AS hour, ${markedAt} FROM click_events WHERE ${where}`;
}

/** Resolves to the seconds that it took. */
async function countAll({ url }: ClickTables, { signal }: Bench): Promise<number> {
  await using rollup = await openRollup(url);
  const startedAt = performance.now();
  for (let counted = 1; counted > 0;) counted = (await rollup?.recount({ limit: 8, skip: 0 }, signal)) ?? 0;
  return (performance.now() - startedAt) / 1_000;
}
