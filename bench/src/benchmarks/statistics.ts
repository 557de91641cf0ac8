import { openRollup } from "@sluice/click-store/rollup.ts";
import { openStatistics, type Statistics } from "@sluice/click-store/statistics.ts";
import type { Bench, Benchmark } from "../benchmark.ts";
import { type ClickTables, openEngine } from "../click-tables.ts";
import { quantile } from "../statistics.ts";

const days = 30;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The range ends within an hour, as "until now" does. */
const toTs = Date.UTC(2026, 10, 30, 23, 40);
const fromTs = toTs - days * dayMs;
/** What nobody has counted yet when the job is as late as it may be. */
const changedSeconds = 7_200;
/** Links are numbered by their clicks: these have 29 %, 1 % and one in 60,000 of all. */
const links = 100_000;
const workspaces = 20;
const [largest, hundredth, small] = [1, 14, 999];
/** Of each question in a round. */
const asksInRound = 3;

type Ask = (statistics: Statistics, signal: AbortSignal) => Promise<unknown>;

/** By what a figure is named for; of the link with the most clicks when no other is named. */
const questions: Readonly<Record<string, Ask>> = {
  "by-hour": byHour(largest),
  "by-hour-hundredth": byHour(hundredth),
  "by-hour-small": byHour(small),
  totals: (asked, signal) => asked.totals(about(largest), signal),
  "days-berlin": byDay("Europe/Berlin"),
  "days-india": byDay("Asia/Kolkata"),
  "top-countries": (asked, signal) => asked.top({ ...about(largest), by: "country", limit: 10 }, signal),
  "top-referrers": (asked, signal) =>
    asked.top({ ...about(largest), by: "referrer_domain", limit: 10 }, signal),
  "of-a-country": (asked, signal) => asked.totals({ ...about(largest), filters: { country: "DE" } }, signal),
  rows: (asked, signal) =>
    asked.top(
      { ...about(largest), fromTs: toTs - dayMs, filters: { country: "DE" }, by: "browser", limit: 10 },
      signal,
    ),
};

/** Many links over thirty days. */
export const statistics: Benchmark = benchmarkOf("statistics", 10_000_000);
/** The same at the size of the goal: some 14 GB of disk, and the counting alone takes 3 s a million. */
export const statisticsOfMany: Benchmark = {
  ...benchmarkOf("statistics-100m", 100_000_000),
  onlyWhenNamed: true,
};

function about(linkId: number) {
  return { workspaceId: workspaceOf(linkId), linkId, fromTs, toTs };
}

function byHour(linkId: number): Ask {
  return (asked, signal) => asked.series({ ...about(linkId), interval: "hour", zone: "UTC" }, signal);
}

function byDay(zone: string): Ask {
  return (asked, signal) => asked.series({ ...about(largest), interval: "day", zone }, signal);
}

function benchmarkOf(name: string, fullRows: number): Benchmark {
  const counting = { name: `${name}-counting`, unit: "s/M rows" };
  const figures = Object.keys(questions).flatMap((question) => {
    const goal = question.startsWith("by-hour") && { goal: { atMost: 200 } };
    return [question, `${question}-p95`, `${question}-counted`].map((figure) => ({
      name: `${name}-${figure}`,
      unit: "ms",
      ...goal,
    }));
  });
  return {
    name,
    figures: [...figures, counting],
    async run(bench) {
      const rows = Math.round(fullRows * bench.scale);
      bench.note(
        `${rows.toLocaleString("en-US")} clicks of ${links.toLocaleString("en-US")} links in ${days} days, ${Math.round(rows * shareOf(largest)).toLocaleString("en-US")} of them of one; the last two hours are counted in \`counted\` alone; \`rows\` is a day with two dimensions, past the rollup`,
      );
      await using engine = await openEngine(bench);
      await using tables = await engine.openTables("statistics");
      await fill(tables, rows, bench);
      bench.recordSingle(counting.name, (1e6 * (await countAll(tables, bench))) / rows);

      await using asked = await openStatistics(tables.url);
      for (const [question, times] of await askAll(asked, bench))
        bench.record(`${name}-${question}-counted`, times);
      await tables.query(marks(`hour >= toDateTime(${toTs / 1_000 - changedSeconds})`, "now64(6)"));
      for (const [question, times] of await askAll(asked, bench)) {
        bench.record(`${name}-${question}`, times);
        bench.recordSingle(`${name}-${question}-p95`, quantile(times, 0.95));
      }
    },
  };
}

/** Resolves to how many ms each answer took; the questions take turns. */
async function askAll(asked: Statistics, { rounds, signal }: Bench): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds * asksInRound; round += 1)
    for (const [question, ask] of Object.entries(questions)) {
      const startedAt = performance.now();
      await ask(asked, signal);
      times.set(question, [...(times.get(question) ?? []), performance.now() - startedAt]);
    }
  return times;
}

/** A link's share of all clicks: of numbers drawn evenly from 0 to 1, what is left of the inverse of their square. */
function shareOf(linkId: number): number {
  return linkId ** -0.5 - (linkId + 1) ** -0.5;
}

function workspaceOf(linkId: number): number {
  return 1 + (linkId % workspaces);
}

/** Day by day, as clicks come; made by the engine, because an ingester would take half an hour. */
async function fill(tables: ClickTables, rows: number, { signal }: Bench): Promise<void> {
  const inserts = days * 4;
  const perInsert = Math.ceil(rows / inserts);
  const stepMs = (days * dayMs) / inserts / perInsert;
  for (let index = 0; index < inserts; index += 1) {
    signal.throwIfAborted();
    await tables.query(`INSERT INTO click_events (event_id, edge, edge_run, edge_seq, ts, workspace_id, link_id, domain,
        country, visitor, browser, os, device, referrer_channel, referrer_domain, language, method, destination, is_bot, bot)
      SELECT generateUUIDv4(n), 'bench', toUUID('01976f5c-0000-7abc-8def-0123456789ab'), n + 1,
        fromUnixTimestamp64Milli(toInt64(${fromTs} + n * ${stepMs}), 'UTC') AS ts, 1 + link % ${workspaces},
        toUInt64(least(${links}, pow((1 + intHash32(n + 6)) / 4294967296, -2))) AS link, 'go.example',
        ['DE', 'US', 'FR', 'IN', 'BR', 'NP', 'JP', 'GB'][1 + (intHash32(n) % 8)],
        hex(sipHash128(toDate(ts), intHash64(n) % ${Math.ceil(rows / days / 3)})),
        ['Chrome', 'Safari', 'Firefox', 'Edge'][1 + (intHash32(n + 1) % 4)],
        ['Windows', 'iOS', 'Android'][1 + (intHash32(n + 2) % 3)],
        ['desktop', 'mobile'][1 + (intHash32(n + 3) % 2)], 'referral', concat('site', toString(intHash32(n + 4) % 200)),
        ['de', 'en', 'fr'][1 + (intHash32(n + 5) % 3)], 'GET', 'https://shop.example/', n % 10 = 0, if(n % 10 = 0, 4, 0)
      FROM (SELECT ${index * perInsert} + number AS n FROM numbers(${perInsert}))`);
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
  for (let counted = 1; counted > 0;) counted = (await rollup?.recount({ limit: 160, skip: 0 }, signal)) ?? 0;
  return (performance.now() - startedAt) / 1_000;
}
