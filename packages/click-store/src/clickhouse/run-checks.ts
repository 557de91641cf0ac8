import type { RunChecks } from "../run-checks.ts";
import { connect } from "./connection.ts";
import { insertRepeatable } from "./insert.ts";
import { selectBeyond, selectGaps, selectUnnumberedLetters } from "./queries/accounted-numbers.ts";
import { holeValues, insertHolesQuery, selectOpenHoles, selectOpenHoleSums } from "./queries/click-holes.ts";
import { insertRunChecksQuery, runCheckValues } from "./queries/click-run-checks.ts";
import { insertRunsQuery, selectRunsDue } from "./queries/click-runs.ts";

/** See `openRunChecks`. */
export function openRunChecks(url: string): RunChecks {
  const connection = connect(url);
  return {
    note: (runs, signal) => insertRepeatable(connection, insertRunsQuery, runs, (run) => [run], signal),
    due: (limit, signal) => selectRunsDue(connection, limit, signal),
    beyond: (after, signal) => selectBeyond(connection, after, signal),
    gaps: (run, range, signal) => selectGaps(connection, run, range, signal),
    save: (checks, signal) =>
      insertRepeatable(connection, insertRunChecksQuery, checks, runCheckValues, signal),
    saveHoles: (holes, signal) => insertRepeatable(connection, insertHolesQuery, holes, holeValues, signal),
    openHoles: (limit, signal) => selectOpenHoles(connection, limit, signal),
    addUp: (foundSince, limit, signal) => selectOpenHoleSums(connection, foundSince, limit, signal),
    unnumberedLetters: (runs, signal) => selectUnnumberedLetters(connection, runs, signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
