import type { Gap, Hole, RunCheck, RunChecks } from "./run-checks.ts";

/** What is missing may still be under way for so long: a consumer of a Redis stream that waits for its store, say. */
export const defaultGraceMs = 300_000;

export interface CheckOptions {
  readonly signal: AbortSignal;
  /** A hole younger than this is suspected, an older one is a loss. */
  readonly graceMs?: number;
  /** So many numbers are looked at by one statement: 25 MB of the server's memory, less than half a second. */
  readonly width?: number;
  /** In ms since 1970. */
  readonly now?: () => number;
}

export interface Findings {
  readonly runs: number;
  /** May still be under way. */
  readonly suspected: Amount;
  /** Lost, as far as anybody knows. */
  readonly missing: Amount;
  /** Numbers in holes of runs that have as many dead letters which do not say their number. */
  readonly explained: number;
  /** Numbers above the first that is suspected, or that this pass did not come to. */
  readonly unverified: number;
  /** Since the first of the suspected was seen. */
  readonly oldestSuspectedMs: number;
}

interface Amount {
  readonly holes: number;
  readonly numbers: number;
}

/** What one pass looks at, at most; the next one goes on. */
const most = { runs: 1_000, steps: 20, holes: 200, gaps: 10_000 };

/**
 * One pass of the reconciler: each run's numbers from where the last pass ended up to the highest that is stored, and
 * the holes that are open. A number that is accounted for is never looked at again, so that what is deleted later,
 * because it is old or has to be erased, alarms nobody. What a run lost at its very end is found when a later number of
 * it comes.
 */
export async function checkRuns(table: RunChecks, options: CheckOptions): Promise<Findings> {
  const { signal, graceMs = defaultGraceMs, width = 1_000_000, now = Date.now } = options;
  await checkHoles(table, signal);
  const due = await table.due(most.runs, signal);
  const checkedTo = new Map<string, number>();
  let behind = 0;
  for (const check of due) {
    const { at, left } = await checkRun(table, check, { signal, width, foundAt: now() });
    checkedTo.set(at.run, at.checkedTo);
    behind += left;
  }

  const open = await table.addUp(now() - graceMs, most.runs, signal);
  const letters = await table.unnumberedLetters(
    open.map(({ run }) => run),
    signal,
  );
  const findings = { suspected: nothing(), missing: nothing(), explained: 0, unverified: behind };
  let firstFoundAt = Infinity;
  for (const { run, young, old, accepted, firstYoungSeq, firstYoungFoundAt } of open) {
    add(findings.suspected, young);
    const explained = Math.min(Math.max(0, (letters.get(run) ?? 0) - accepted), old.numbers);
    findings.explained += explained;
    if (explained < old.numbers) add(findings.missing, { ...old, numbers: old.numbers - explained });
    if (young.holes === 0) continue;
    findings.unverified += Math.max(young.numbers, (checkedTo.get(run) ?? 0) - firstYoungSeq + 1);
    firstFoundAt = Math.min(firstFoundAt, firstYoungFoundAt);
  }
  return { ...findings, runs: due.length, oldestSuspectedMs: Math.max(0, now() - firstFoundAt) };
}

/** Resolves to how far it came, and to how many numbers are left for the next pass. */
async function checkRun(
  table: RunChecks,
  check: RunCheck,
  { signal, width, foundAt }: { signal: AbortSignal; width: number; foundAt: number },
): Promise<{ at: RunCheck; left: number }> {
  const { run } = check;
  let at = check;
  for (let step = 0; step < most.steps; step += 1) {
    const beyond = await table.beyond(at, signal);
    if (beyond === undefined) {
      await table.save([at], signal);
      return { at, left: 0 };
    }
    // Numbers that are far from all others are one gap, and not a million steps.
    const toSeq = Math.min(beyond.greatest, beyond.least + width - 1);
    const range = { fromSeq: at.checkedTo + 1, toSeq, sinceTs: at.checkedTs, limit: most.gaps };
    const { gaps, lastTs } = await table.gaps(run, range, signal);
    // First the holes: killed in between, the next pass finds them again.
    await table.saveHoles(
      gaps.map((gap) => ({ ...gap, fromTs: gap.fromTs || at.checkedTs, run, foundAt, state: "open" })),
      signal,
    );
    const last = gaps.length === most.gaps ? gaps.at(-1) : undefined;
    at =
      last === undefined
        ? { run, checkedTo: toSeq, checkedTs: Math.max(at.checkedTs, lastTs) }
        : { ...at, checkedTo: last.toSeq };
    await table.save([at], signal);
  }
  const beyond = await table.beyond(at, signal);
  return { at, left: beyond === undefined ? 0 : beyond.greatest - at.checkedTo };
}

/** Looks at what is open once more: what came late closes it, or leaves less of it. */
async function checkHoles(table: RunChecks, signal: AbortSignal): Promise<void> {
  for (const hole of await table.openHoles(most.holes, signal)) {
    const { run, fromSeq, toSeq, foundAt } = hole;
    const range = { fromSeq, toSeq, sinceTs: 0, limit: most.gaps };
    const { gaps } = await table.gaps(run, range, signal);
    if (gaps.length === most.gaps || isWhole(hole, gaps)) continue;
    const left = gaps.map((gap) => ({ ...withTimes(gap, hole), run, foundAt, state: "open" as const }));
    await table.saveHoles([{ ...hole, state: "filled" }, ...left], signal);
  }
}

function isWhole(hole: Hole, [first, ...others]: readonly Gap[]): boolean {
  return others.length === 0 && first?.fromSeq === hole.fromSeq && first.toSeq === hole.toSeq;
}

/** At its edges a piece has the neighbours of the whole, at which nobody looked again. */
function withTimes(gap: Gap, hole: Hole): Gap {
  return { ...gap, fromTs: gap.fromTs || hole.fromTs, toTs: gap.toTs || hole.toTs };
}

function nothing(): { holes: number; numbers: number } {
  return { holes: 0, numbers: 0 };
}

function add(sum: { holes: number; numbers: number }, { holes, numbers }: Amount): void {
  sum.holes += holes;
  sum.numbers += numbers;
}
