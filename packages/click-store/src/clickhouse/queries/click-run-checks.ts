import type { Value } from "../../body.ts";
import type { RunCheck } from "../../run-checks.ts";

export const insertRunChecksQuery = `INSERT INTO click_run_checks (edge_run, checked_to, checked_ts)
  FORMAT JSONCompactEachRow`;

export function runCheckValues({ run, checkedTo, checkedTs }: RunCheck): readonly Value[] {
  return [run, checkedTo, checkedTs];
}
