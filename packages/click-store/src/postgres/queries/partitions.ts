import type { Connection } from "../connection.ts";

/** A table that has partitions, each a month or a day of UTC long. */
export interface Partitioned {
  readonly parent: string;
  readonly unit: "month" | "day";
}

/**
 * Makes the partitions that these instants (ms since 1970) fall into, where they are not there yet. May be called by several processes at once.
 */
export async function makePartitions(
  connection: Connection,
  { parent, unit }: Partitioned,
  instants: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    "SELECT make_partitions($1, $2, ARRAY(SELECT to_timestamp(ms / 1000) FROM unnest($3::float8[]) AS ms))::text",
    [parent, unit, instants],
    signal,
  );
}

/** Drops the partitions that end at this instant (ms since 1970) or before. May be called by several processes at once. */
export async function dropPartitions(
  connection: Connection,
  { parent, unit }: Partitioned,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    "SELECT drop_partitions($1, $2, to_timestamp($3::float8 / 1000))::text",
    [parent, unit, before],
    signal,
  );
}
