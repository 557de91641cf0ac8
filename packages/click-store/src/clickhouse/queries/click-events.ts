import { ClickStoreError } from "../../click-store.ts";
import { clickColumns } from "../../click-columns.ts";
import type { Connection } from "../connection.ts";

export const insertClicksQuery = `INSERT INTO click_events (${clickColumns.join(", ")}) FORMAT JSONCompactEachRow`;

/** The highest number stored of a run at or after `sinceTs`; 0 when none is. Older parts are not read. */
export async function selectHighest(
  connection: Connection,
  run: string,
  sinceTs: number,
  signal: AbortSignal,
): Promise<number> {
  const lines = await connection.select(
    `SELECT max(edge_seq) FROM click_events
     WHERE edge_run = {run:UUID} AND ts >= fromUnixTimestamp64Milli({sinceTs:Int64}, 'UTC')`,
    { run, sinceTs },
    signal,
  );
  return toNumber(lines[0] ?? "");
}

export interface NumberRange {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly fromTs: number;
  readonly toTs: number;
}

/** Which numbers of a run are stored within these ranges, both ends included. */
export async function selectNumbers(
  connection: Connection,
  run: string,
  { fromSeq, toSeq, fromTs, toTs }: NumberRange,
  signal: AbortSignal,
): Promise<Set<number>> {
  const lines = await connection.select(
    `SELECT DISTINCT edge_seq FROM click_events
     WHERE edge_run = {run:UUID}
       AND edge_seq BETWEEN {fromSeq:UInt64} AND {toSeq:UInt64}
       AND ts BETWEEN fromUnixTimestamp64Milli({fromTs:Int64}, 'UTC') AND fromUnixTimestamp64Milli({toTs:Int64}, 'UTC')`,
    { run, fromSeq, toSeq, fromTs, toTs },
    signal,
  );
  return new Set(lines.map(toNumber));
}

/** A result that holds anything else was cut or is an error's text: taking it for fewer rows would insert them twice. */
function toNumber(line: string): number {
  if (!/^\d+$/.test(line))
    throw new ClickStoreError("retry", 0, "a number was asked for, and something else came");
  return Number(line);
}
