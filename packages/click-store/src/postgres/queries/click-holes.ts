import type { Hole, HoleState, OpenHoles } from "../../run-checks.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

export async function insertHoles(
  connection: Connection,
  holes: readonly (Hole & { readonly state: HoleState })[],
  signal: AbortSignal,
): Promise<void> {
  if (holes.length === 0) return;
  await connection.query(
    `INSERT INTO click_holes (edge_run, from_seq, to_seq, from_ts, to_ts, found_at, state)
     SELECT edge_run, from_seq, to_seq, to_timestamp(from_ms / 1000), to_timestamp(to_ms / 1000),
       to_timestamp(found_ms / 1000), state
     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::float8[], $5::float8[], $6::float8[], $7::text[])
       AS given (edge_run, from_seq, to_seq, from_ms, to_ms, found_ms, state)
     ON CONFLICT (edge_run, from_seq, to_seq) DO UPDATE SET from_ts = excluded.from_ts, to_ts = excluded.to_ts,
       found_at = excluded.found_at, state = excluded.state`,
    [
      holes.map(({ run }) => run),
      holes.map(({ fromSeq }) => fromSeq),
      holes.map(({ toSeq }) => toSeq),
      holes.map(({ fromTs }) => fromTs),
      holes.map(({ toTs }) => toTs),
      holes.map(({ foundAt }) => foundAt),
      holes.map(({ state }) => state),
    ],
    signal,
  );
}

/** When there are too many for one pass, each of them has its turn in another one. */
export async function selectOpenHoles(
  connection: Connection,
  limit: number,
  signal: AbortSignal,
): Promise<Hole[]> {
  const rows = await connection.query(
    `SELECT edge_run, from_seq, to_seq, (extract(epoch FROM from_ts) * 1000)::bigint,
       (extract(epoch FROM to_ts) * 1000)::bigint, (extract(epoch FROM found_at) * 1000)::bigint
     FROM click_holes WHERE state = 'open' ORDER BY random() LIMIT $1`,
    [limit],
    signal,
  );
  return rows.map(([run = "", ...columns]) => {
    const [fromSeq = 0, toSeq = 0, fromTs = 0, toTs = 0, foundAt = 0] = columns.map(toNumber);
    return { run, fromSeq, toSeq, fromTs, toTs, foundAt };
  });
}

export async function selectOpenHoleSums(
  connection: Connection,
  foundSince: number,
  limit: number,
  signal: AbortSignal,
): Promise<OpenHoles[]> {
  const rows = await connection.query(
    `SELECT edge_run,
       count(*) FILTER (WHERE open AND young), coalesce(sum(numbers) FILTER (WHERE open AND young), 0)::bigint,
       count(*) FILTER (WHERE open AND NOT young), coalesce(sum(numbers) FILTER (WHERE open AND NOT young), 0)::bigint,
       coalesce(sum(numbers) FILTER (WHERE NOT open), 0)::bigint,
       coalesce(min(from_seq) FILTER (WHERE open AND young), 0),
       coalesce((extract(epoch FROM min(found_at) FILTER (WHERE open AND young)) * 1000)::bigint, 0)
     FROM (
       SELECT edge_run, from_seq, found_at, to_seq - from_seq + 1 AS numbers, state = 'open' AS open,
         found_at > to_timestamp($1::float8 / 1000) AS young
       FROM click_holes WHERE state <> 'filled'
     ) AS holes
     GROUP BY edge_run HAVING bool_or(open) ORDER BY edge_run LIMIT $2`,
    [foundSince, limit],
    signal,
  );
  return rows.map(([run = "", ...columns]) => {
    const [youngHoles = 0, youngNumbers = 0, oldHoles = 0, oldNumbers = 0, accepted = 0, ...first] =
      columns.map(toNumber);
    const [firstYoungSeq = 0, firstYoungFoundAt = 0] = first;
    const young = { holes: youngHoles, numbers: youngNumbers };
    const old = { holes: oldHoles, numbers: oldNumbers };
    return { run, young, old, accepted, firstYoungSeq, firstYoungFoundAt };
  });
}
