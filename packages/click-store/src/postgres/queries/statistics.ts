import { botReasons } from "@sluice/click-event/bot.ts";
import type { Counting, CountsOf } from "../../statistics/answers.ts";
import type { Dimension } from "../../statistics/dimensions.ts";
import type { Connection } from "../connection.ts";
import { toStorable } from "../copy-text.ts";
import { toNumber } from "./to-number.ts";

const reasons = [
  ...Object.entries(botReasons).map(
    ([name, { bit }]) => `CASE WHEN bot & ${bit} <> 0 THEN '${name}' ELSE '' END`,
  ),
  "CASE WHEN prefetch THEN 'prefetch' ELSE '' END",
  "CASE WHEN method = 'HEAD' THEN 'head' ELSE '' END",
];

/** What is not a column: texts, empty for none. Not built from any input. */
const valueOf: { readonly [D in Dimension]?: string } = {
  variant: "CASE WHEN variant = 0 THEN '' ELSE variant::text END",
  qr: "CASE WHEN qr THEN 'yes' ELSE '' END",
  bot_reason: `unnest(array_remove(ARRAY[${reasons.join(", ")}], ''))`,
};

/**
 * From the rows, each of which is read once: first by visitor, so that different ones are a count of groups, which a
 * hash table does and no sorting. Each bucket by itself: small tables take half the time of a large one. The text
 * depends on which parts the question has, and on no value.
 */
export async function selectCounts(
  connection: Connection,
  { workspaceId, linkId, fromTs, toTs, filters, by, boundaries, limit }: Counting,
  signal: AbortSignal,
): Promise<CountsOf[]> {
  const matching = filters.map(({ dimension }, index) => `AND ${matches(dimension, `$${6 + index}`)}`);
  const [buckets, from, to] = boundaries.length === 0 ? oneBucket : manyBuckets;
  const rows = await connection.query(
    `SELECT number, value, sum(people)::bigint AS all_people, sum(others)::bigint AS all_others,
       count(*) FILTER (WHERE seen <> '')
     FROM ${buckets} CROSS JOIN LATERAL (
       SELECT ${by === undefined ? "''" : (valueOf[by] ?? by)} AS value, CASE WHEN is_bot THEN '' ELSE visitor END AS seen,
         count(*) FILTER (WHERE NOT is_bot) AS people, count(*) FILTER (WHERE is_bot) AS others
       FROM clicks
       WHERE workspace_id = $1 AND link_id = $2
         AND ts >= to_timestamp(${from} / 1000) AND ts < to_timestamp(${to} / 1000) ${matching.join(" ")}
       GROUP BY 1, 2
     ) AS by_visitor
     ${by === undefined ? "" : "WHERE value <> ''"}
     GROUP BY number, value
     ORDER BY all_people DESC, all_others DESC, value COLLATE "C" LIMIT $5`,
    [
      workspaceId,
      linkId,
      [fromTs, ...boundaries],
      [...boundaries, toTs],
      limit,
      ...filters.map(({ value }) => toStorable(value)),
    ],
    signal,
  );
  return rows.map(([number, value = "", clicks, bots, visitors]) => ({
    beginsAt: boundaries[toNumber(number) - 2] ?? 0,
    value,
    clicks: toNumber(clicks),
    bots: toNumber(bots),
    visitors: toNumber(visitors),
  }));
}

// Where the buckets come from, and where one begins and ends. Of one the planner is told how long it is.
const oneBucket = [
  "(SELECT 1::bigint AS number) AS bucket",
  "($3::float8[])[1]",
  "($4::float8[])[1]",
] as const;
const manyBuckets = [
  "unnest($3::float8[], $4::float8[]) WITH ORDINALITY AS bucket (from_ms, to_ms, number)",
  "from_ms",
  "to_ms",
] as const;

function matches(dimension: Dimension, parameter: string): string {
  if (dimension === "bot_reason") return `${parameter} = ANY(ARRAY[${reasons.join(", ")}])`;
  return `${valueOf[dimension] ?? dimension} = ${parameter}`;
}
