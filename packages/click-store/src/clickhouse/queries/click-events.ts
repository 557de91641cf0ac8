import { ClickStoreError, type NumberRange } from "../../click-store.ts";
import { clickColumns } from "../../click-columns.ts";
import type { Connection } from "../connection.ts";
import type { Column, Kind } from "../native.ts";

export const insertClicksQuery = `INSERT INTO click_events (${clickColumns.join(", ")}) FORMAT Native`;

const kinds = new Map<string, Kind>([
  ["edge_seq", "uint64"],
  ["ts", "millis"],
  ["workspace_id", "uint32"],
  ["link_id", "uint64"],
  ["status", "uint16"],
  ["asn", "uint32"],
  ["client_hints", "map"],
  ["bot", "uint32"],
  ["prefetch", "uint8"],
  ["qr", "uint8"],
  ["variant", "uint8"],
  ["click_ids", "map"],
  ["gpc", "uint8"],
  ["is_bot", "uint8"],
]);

/** How each of `clickColumns` is sent: as text unless it says otherwise. */
export const sentColumns: readonly Column[] = clickColumns.map((name) => ({
  name,
  kind: kinds.get(name) ?? "text",
}));

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
