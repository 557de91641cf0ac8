import type { RunChecks } from "@sluice/click-store/run-checks.ts";

export interface RunNotes {
  /** Call it before the clicks of these runs are stored, and after. Rejects as the table's calls do. */
  note(runs: ReadonlySet<string>, signal: AbortSignal): Promise<void>;
}

/** Many times in the hour for which a run is looked after once it was noted. */
const noteEveryMs = 600_000;
/** One costs about 100 bytes. Beyond that all are noted again. */
const maxRuns = 10_000;

/** Notes each run at its first clicks and every ten minutes while they come. `now` counts milliseconds, monotonic. */
export function createRunNotes(
  table: Pick<RunChecks, "note">,
  now: () => number = () => performance.now(),
): RunNotes {
  const notedAt = new Map<string, number>();
  return {
    async note(runs, signal) {
      const due = [...runs].filter((run) => now() - (notedAt.get(run) ?? -Infinity) >= noteEveryMs);
      if (due.length === 0) return;
      await table.note(due, signal);
      if (notedAt.size > maxRuns) notedAt.clear();
      for (const run of due) notedAt.set(run, now());
    },
  };
}
