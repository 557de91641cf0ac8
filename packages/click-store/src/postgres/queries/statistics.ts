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
  bot_reason: `unnest(ARRAY[${reasons.join(", ")}])`,
};

/**
 * From the rows, each of which is read once: first by visitor, so that different ones are a count of groups, which a
 * hash table does and no sorting. The text depends on which parts the question has, and on no value.
 */
export async function selectCounts(
  connection: Connection,
  { workspaceId, linkId, fromTs, toTs, filters, by, boundaries, limit }: Counting,
  signal: AbortSignal,
): Promise<CountsOf[]> {
  const matching = filters.map(({ dimension }, index) => `AND ${matches(dimension, `$${7 + index}`)}`);
  const rows = await connection.query(
    `SELECT coalesce((($5::float8[])[bucket])::bigint, 0), value, sum(people)::bigint AS all_people,
       sum(others)::bigint AS all_others, count(*) FILTER (WHERE seen <> '')
     FROM (
       SELECT ${boundaries.length === 0 ? "0" : bucket} AS bucket, ${by === undefined ? "''" : (valueOf[by] ?? by)} AS value,
         CASE WHEN is_bot THEN '' ELSE visitor END AS seen,
         count(*) FILTER (WHERE NOT is_bot) AS people, count(*) FILTER (WHERE is_bot) AS others
       FROM clicks
       WHERE workspace_id = $1 AND link_id = $2
         AND ts >= to_timestamp($3::float8 / 1000) AND ts < to_timestamp($4::float8 / 1000) ${matching.join(" ")}
       GROUP BY 1, 2, 3
     ) AS by_visitor
     ${by === undefined ? "" : "WHERE value <> ''"}
     GROUP BY bucket, value
     ORDER BY all_people DESC, all_others DESC, value COLLATE "C" LIMIT $6`,
    [workspaceId, linkId, fromTs, toTs, boundaries, limit, ...filters.map(({ value }) => toStorable(value))],
    signal,
  );
  return rows.map(([beginsAt, value = "", clicks, bots, visitors]) => ({
    beginsAt: toNumber(beginsAt),
    value,
    clicks: toNumber(clicks),
    bots: toNumber(bots),
    visitors: toNumber(visitors),
  }));
}

/** The number of the last boundary at or before. */
const bucket = "width_bucket(ts, ARRAY(SELECT to_timestamp(ms / 1000) FROM unnest($5::float8[]) AS ms))";

function matches(dimension: Dimension, parameter: string): string {
  if (dimension === "bot_reason") return `${parameter} = ANY(ARRAY[${reasons.join(", ")}])`;
  return `${valueOf[dimension] ?? dimension} = ${parameter}`;
}
