import type { Value } from "../../body.ts";
import type { Hole, HoleState, OpenHoles } from "../../run-checks.ts";
import type { Connection } from "../connection.ts";

export const insertHolesQuery = `INSERT INTO click_holes (edge_run, from_seq, to_seq, from_ts, to_ts, found_at, state)
  FORMAT JSONCompactEachRow`;

export function holeValues(hole: Hole & { readonly state: HoleState }): readonly Value[] {
  const { run, fromSeq, toSeq, fromTs, toTs, foundAt, state } = hole;
  return [run, fromSeq, toSeq, fromTs, toTs, foundAt, state];
}

/** When there are too many for one pass, each of them has its turn in another one. */
export async function selectOpenHoles(
  connection: Connection,
  limit: number,
  signal: AbortSignal,
): Promise<Hole[]> {
  const lines = await connection.select(
    `SELECT edge_run, from_seq, to_seq, toUnixTimestamp64Milli(from_ts), toUnixTimestamp64Milli(to_ts),
       toUnixTimestamp64Milli(found_at)
     FROM click_holes FINAL WHERE state = 'open' ORDER BY rand() LIMIT {limit:UInt32}`,
    { limit },
    signal,
  );
  return lines.map((line) => {
    const [run = "", ...numbers] = line.split("\t");
    const [fromSeq = 0, toSeq = 0, fromTs = 0, toTs = 0, foundAt = 0] = numbers.map(Number);
    return { run, fromSeq, toSeq, fromTs, toTs, foundAt };
  });
}

export async function selectOpenHoleSums(
  connection: Connection,
  foundSince: number,
  limit: number,
  signal: AbortSignal,
): Promise<OpenHoles[]> {
  const lines = await connection.select(
    `SELECT edge_run,
       countIf(open AND young), sumIf(numbers, open AND young), countIf(open AND NOT young),
       sumIf(numbers, open AND NOT young), sumIf(numbers, NOT open),
       minIf(from_seq, open AND young), toUnixTimestamp64Milli(minIf(found_at, open AND young))
     FROM (
       SELECT edge_run, from_seq, found_at, to_seq - from_seq + 1 AS numbers, state = 'open' AS open,
         found_at > fromUnixTimestamp64Milli({foundSince:Int64}, 'UTC') AS young
       FROM click_holes FINAL WHERE state != 'filled'
     )
     GROUP BY edge_run HAVING countIf(open) > 0 ORDER BY edge_run LIMIT {limit:UInt32}`,
    { foundSince, limit },
    signal,
  );
  return lines.map((line) => {
    const [run = "", ...columns] = line.split("\t");
    const [youngHoles = 0, youngNumbers = 0, oldHoles = 0, oldNumbers = 0, accepted = 0, ...first] =
      columns.map(Number);
    const [firstYoungSeq = 0, firstYoungFoundAt = 0] = first;
    const young = { holes: youngHoles, numbers: youngNumbers };
    const old = { holes: oldHoles, numbers: oldNumbers };
    return { run, young, old, accepted, firstYoungSeq, firstYoungFoundAt };
  });
}
