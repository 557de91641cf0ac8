import type { Dimension } from "../../statistics/dimensions.ts";
import type { Counting, CountsOf } from "../../statistics/answers.ts";
import type { Connection, Parameters } from "../connection.ts";
import type { Plan } from "../statistics/plan.ts";
import { byTime, countsOfRows, valuesOf } from "./dimensions.ts";

/** And where to take it from. */
interface Planned extends Counting {
  readonly plan: Plan;
}

/** Both sources in one query. The text depends on which parts there are, and on no value. */
export async function selectCounts(
  connection: Connection,
  counting: Planned,
  signal: AbortSignal,
): Promise<CountsOf[]> {
  const lines = await connection.select(
    counting.plan.hoursApart && counting.by === undefined ? hoursApart(counting) : merged(counting),
    parametersOf(counting),
    signal,
  );
  return lines.map((line) => {
    const [bucket, text = "", clicks, bots, visitors] = line.split("\t");
    return {
      beginsAt: 1_000 * Number(bucket),
      value: Buffer.from(text, "base64").toString(),
      clicks: Number(clicks),
      bots: Number(bots),
      visitors: Number(visitors),
    };
  });
}

function merged(counting: Planned): string {
  return `SELECT bucket, base64Encode(text), sum(people) AS all_people, sum(others) AS all_others,
      uniqCombined64Merge(14)(seen)
    FROM (${sourcesOf(counting, "visitors", "seen")})
    GROUP BY bucket, text HAVING all_people + all_others > 0
    ORDER BY all_people DESC, all_others DESC, text LIMIT {limit:UInt32}
    SETTINGS ${byTime}`;
}

/** No two rows are of one bucket: nothing is merged, and of the rollup no state is read. */
function hoursApart(counting: Planned): string {
  return `SELECT bucket, '', people, others, seen
    FROM (${sourcesOf(counting, "visitor_count", "finalizeAggregation(seen)")})
    WHERE people + others > 0
    SETTINGS ${byTime}`;
}

function sourcesOf(counting: Planned, ofRollup: string, ofRows: string): string {
  const { by, plan } = counting;
  const sources = [];
  if (plan.rollup.toTs > plan.rollup.fromTs) {
    const wanted = by === undefined ? "" : `AND value IN (${valuesWithMost(counting)})`;
    sources.push(`${fromRollup(counting, ofRollup)} ${wanted}`);
  }
  if (plan.rows.length > 0) {
    sources.push(`SELECT bucket, text, people, others, ${ofRows} AS seen FROM (${fromRows(counting)})`);
  }
  return sources.join(" UNION ALL ");
}

/**
 * The values of the answer: of all others no state need be read. Where the rows have some of another value, and so less
 * of it than there is, it stays behind these. All that a query reads of a table is as it was at one moment.
 */
function valuesWithMost(counting: Planned): string {
  const rows =
    counting.plan.rows.length > 0 ? `UNION ALL SELECT text, people, others FROM (${fromRows(counting)})` : "";
  return `SELECT text FROM (SELECT text, people, others FROM (${fromRollup(counting, "0")}) ${rows})
    GROUP BY text ORDER BY sum(people) DESC, sum(others) DESC, text LIMIT {limit:UInt32}`;
}

/** The last boundary at or before; they come as the first one and what each adds to it. */
function bucketOf(seconds: string): string {
  return `roundDown(toUInt64(${seconds}), arrayConcat([toUInt64(0)], arrayCumSum({steps:Array(UInt64)})))`;
}

/**
 * With at most one dimension in play: `selectCounts` is given no other plan. All conditions are on the table's key, which
 * all versions of a row share: so they may come before FINAL, and states are read of the rows alone that are wanted.
 */
function fromRollup({ by, filters, plan }: Planned, visitors: string): string {
  const outside = plan.rows.map(
    (_, index) =>
      `AND NOT (hour >= ${secondsAt("rowsFrom", index)} AND hour < ${secondsAt("rowsTo", index)})`,
  );
  const [filter] = filters;
  return `SELECT ${bucketOf("toUnixTimestamp(hour)")} AS bucket, ${by === undefined ? "''" : "value"} AS text,
      clicks AS people, bots AS others, ${visitors} AS seen
    FROM click_rollup FINAL
    PREWHERE workspace_id = {workspaceId:UInt32} AND link_id = {linkId:UInt64} AND dimension = {dimension:String}
      AND hour >= toDateTime({rollupFrom:Int64}, 'UTC') AND hour < toDateTime({rollupTo:Int64}, 'UTC')
      ${outside.join(" ")} ${filter === undefined ? "" : "AND value = {value0:String}"}`;
}

function fromRows({ by, filters, plan }: Planned): string {
  const inside = plan.rows.map(
    (_, index) => `ts >= ${momentAt("rowsFrom", index)} AND ts < ${momentAt("rowsTo", index)}`,
  );
  const matching = filters.map(
    ({ dimension }, index) => `AND has([${texts(dimension)}], {value${index}:String})`,
  );
  return `SELECT ${bucketOf("toUnixTimestamp(ts)")} AS bucket,
      ${by === undefined ? "''" : `arrayJoin([${texts(by)}])`} AS text, ${countsOfRows}
    FROM clicks
    WHERE workspace_id = {workspaceId:UInt32} AND link_id = {linkId:UInt64} AND (${inside.join(" OR ")})
      ${matching.join(" ")}
    GROUP BY bucket, text ${by === undefined ? "" : "HAVING text != ''"}`;
}

function texts(dimension: Dimension): string {
  return valuesOf[dimension].map((value) => `toString(${value})`).join(", ");
}

/** Of a list of ms; the index is ours. */
function momentAt(list: "rowsFrom" | "rowsTo", index: number): string {
  return `fromUnixTimestamp64Milli({${list}:Array(Int64)}[${index + 1}], 'UTC')`;
}

function secondsAt(list: "rowsFrom" | "rowsTo", index: number): string {
  return `toDateTime(intDiv({${list}:Array(Int64)}[${index + 1}], 1000), 'UTC')`;
}

function parametersOf(counting: Planned): Parameters {
  const { workspaceId, linkId, plan, by, filters, boundaries, limit } = counting;
  const seconds = boundaries.map((ts) => ts / 1_000);
  return {
    workspaceId,
    linkId,
    limit,
    dimension: by ?? filters[0]?.dimension ?? "total",
    rollupFrom: plan.rollup.fromTs / 1_000,
    rollupTo: plan.rollup.toTs / 1_000,
    rowsFrom: plan.rows.map(({ fromTs }) => fromTs),
    rowsTo: plan.rows.map(({ toTs }) => toTs),
    steps: seconds.map((second, index) => second - (seconds[index - 1] ?? 0)),
    ...Object.fromEntries(filters.map(({ value }, index) => [`value${index}`, value])),
  };
}
