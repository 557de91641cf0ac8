import { randomUUID } from "node:crypto";
import { encodeRows, type Value } from "../body.ts";
import type { RunChecks } from "../run-checks.ts";
import { connect } from "./connection.ts";
import { repeatableSettings } from "./insert.ts";
import { selectBeyond, selectGaps, selectUnnumberedLetters } from "./queries/accounted-numbers.ts";
import { holeValues, insertHolesQuery, selectOpenHoles, selectOpenHoleSums } from "./queries/click-holes.ts";
import { insertRunChecksQuery, runCheckValues } from "./queries/click-run-checks.ts";
import { insertRunsQuery, selectRunsDue } from "./queries/click-runs.ts";

/** See `openRunChecks`. */
export function openRunChecks(url: string): RunChecks {
  const connection = connect(url);
  async function insert<R>(
    query: string,
    rows: readonly R[],
    toValues: (row: R) => readonly Value[],
    signal: AbortSignal,
  ): Promise<void> {
    if (rows.length === 0) return;
    const settings = repeatableSettings;
    await connection.insert(query, encodeRows(rows, toValues), { id: randomUUID(), settings, signal });
  }
  return {
    note: (runs, signal) => insert(insertRunsQuery, runs, (run) => [run], signal),
    due: (limit, signal) => selectRunsDue(connection, limit, signal),
    beyond: (after, signal) => selectBeyond(connection, after, signal),
    gaps: (run, range, signal) => selectGaps(connection, run, range, signal),
    save: (checks, signal) => insert(insertRunChecksQuery, checks, runCheckValues, signal),
    saveHoles: (holes, signal) => insert(insertHolesQuery, holes, holeValues, signal),
    openHoles: (limit, signal) => selectOpenHoles(connection, limit, signal),
    addUp: (foundSince, limit, signal) => selectOpenHoleSums(connection, foundSince, limit, signal),
    unnumberedLetters: (runs, signal) => selectUnnumberedLetters(connection, runs, signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
