import { silentLog } from "@sluice/service/log.ts";
import type { RunChecks } from "../run-checks.ts";
import { connect } from "./connection.ts";
import { selectBeyond, selectGaps, selectUnnumberedLetters } from "./queries/accounted-numbers.ts";
import { insertHoles, selectOpenHoles, selectOpenHoleSums } from "./queries/click-holes.ts";
import { noteRuns, selectRunsDue, updateChecks } from "./queries/click-runs.ts";

/** See `openRunChecks`. */
export function openRunChecks(url: string): RunChecks {
  const connection = connect(url, silentLog);
  return {
    note: (runs, signal) => noteRuns(connection, runs, signal),
    due: (limit, signal) => selectRunsDue(connection, limit, signal),
    beyond: (after, signal) => selectBeyond(connection, after, signal),
    gaps: (run, range, signal) => selectGaps(connection, run, range, signal),
    save: (checks, signal) => updateChecks(connection, checks, signal),
    saveHoles: (holes, signal) => insertHoles(connection, holes, signal),
    openHoles: (limit, signal) => selectOpenHoles(connection, limit, signal),
    addUp: (foundSince, limit, signal) => selectOpenHoleSums(connection, foundSince, limit, signal),
    unnumberedLetters: (runs, signal) => selectUnnumberedLetters(connection, runs, signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
