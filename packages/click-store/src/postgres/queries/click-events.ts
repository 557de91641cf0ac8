import { clickColumns } from "../../click-columns.ts";
import type { NumberRange } from "../../click-store.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

const columns = clickColumns.join(", ");

/**
 * COPY is what Postgres parses fastest, and it knows no conflicts; so it fills a table of the session, from where the
 * rows go on. That table has our columns alone and none of the constraints, so that what a newer version adds to
 * `click_events` is no matter.
 */
export const insertClicksStatements = `
  CREATE TEMP TABLE IF NOT EXISTS incoming_clicks ON COMMIT DELETE ROWS AS
    SELECT ${columns} FROM click_events WITH NO DATA;
  COPY incoming_clicks (${columns}) FROM STDIN;
  INSERT INTO click_events (${columns}) SELECT ${columns} FROM incoming_clicks ON CONFLICT DO NOTHING`;

/** The highest number stored of a run at or after `sinceTs`; 0 when none is. Older months are not read. */
export async function selectHighest(
  connection: Connection,
  run: string,
  sinceTs: number,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await connection.query(
    `SELECT coalesce(max(edge_seq), 0) FROM click_events
     WHERE edge_run = $1 AND ts >= to_timestamp($2::float8 / 1000)`,
    [run, sinceTs],
    signal,
  );
  return toNumber(row?.[0]);
}

/** Which numbers of a run are stored within these ranges, both ends included. */
export async function selectNumbers(
  connection: Connection,
  run: string,
  { fromSeq, toSeq, fromTs, toTs }: NumberRange,
  signal: AbortSignal,
): Promise<Set<number>> {
  const rows = await connection.query(
    `SELECT edge_seq FROM click_events
     WHERE edge_run = $1 AND edge_seq BETWEEN $2 AND $3
       AND ts BETWEEN to_timestamp($4::float8 / 1000) AND to_timestamp($5::float8 / 1000)`,
    [run, fromSeq, toSeq, fromTs, toTs],
    signal,
  );
  return new Set(rows.map(([edgeSeq]) => toNumber(edgeSeq)));
}
