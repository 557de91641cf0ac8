import type { Connection } from "../connection.ts";

/**
 * Makes the partitions of a table that these instants (ms since 1970) fall into, each a month or a day of UTC long, where
 * they are not there yet. May be called by several processes at once.
 */
export async function makePartitions(
  connection: Connection,
  {
    parent,
    unit,
    instants,
  }: { readonly parent: string; readonly unit: "month" | "day"; readonly instants: readonly number[] },
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    "SELECT make_partitions($1, $2, ARRAY(SELECT to_timestamp(ms / 1000) FROM unnest($3::float8[]) AS ms))::text",
    [parent, unit, instants],
    signal,
  );
}
