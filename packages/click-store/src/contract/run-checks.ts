import * as fc from "fast-check";
import { expect } from "vitest";
import type { DeadLetter } from "../click-store.ts";
import { type Hole, openRunChecks, type RunChecks } from "../run-checks.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { never, type Trial } from "./trial.ts";

const at = Date.UTC(2026, 10, 30, 12);

/** What is remembered of the numbers of runs. */
export const runChecks = {
  "a number is in a gap exactly when nothing accounts for it": async (trial: Trial) => {
    await using checks = await openRunChecks(trial.subject.url);
    const span = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(6));
    const spans = fc.array(span, { maxLength: 6 });
    const letters = fc.uniqueArray(fc.integer({ min: 1, max: 60 }));
    await fc.assert(
      fc.asyncProperty(spans, spans, letters, span, async (clicks, refused, given, looked) => {
        const run = uuidv7();
        await Promise.all([
          ...clicks.map(([first, more]) => store(trial, run, first, first + more)),
          ...refused.map(([first, more]) => refuse(trial, run, first, first + more)),
          trial.store.insertDeadLetters(
            given.map((number) => letter(run, number)),
            trial.options,
          ),
        ]);
        const present = new Set([
          ...given,
          ...[...clicks, ...refused].flatMap(([first, more]) => numbersBetween(first, first + more)),
        ]);
        const [fromSeq, toSeq] = [looked[0], looked[0] + looked[1] * 10];
        const { gaps } = await checks.gaps(run, { fromSeq, toSeq, sinceTs: 0, limit: 100 }, never);
        const found = gaps.flatMap((gap) => numbersBetween(gap.fromSeq, gap.toSeq));
        expect(found).toEqual(numbersBetween(fromSeq, toSeq).filter((number) => !present.has(number)));
      }),
      { numRuns: 10 },
    );
  },

  "a gap has the times of its neighbours, and there are no more of them than asked for": async (
    trial: Trial,
  ) => {
    await using checks = await openRunChecks(trial.subject.url);
    const run = uuidv7();
    await store(trial, run, 1, 2);
    await store(trial, run, 5, 6);
    await store(trial, run, 8, 8);
    const found = await checks.gaps(run, { fromSeq: 1, toSeq: 9, sinceTs: 0, limit: 2 }, never);
    expect(found.gaps).toEqual([
      { fromSeq: 3, toSeq: 4, fromTs: at + 2, toTs: at + 5 },
      { fromSeq: 7, toSeq: 7, fromTs: at + 6, toTs: at + 8 },
    ]);
    const whole = await checks.gaps(run, { fromSeq: 8, toSeq: 9, sinceTs: at, limit: 2 }, never);
    expect(whole).toEqual({ gaps: [{ fromSeq: 9, toSeq: 9, fromTs: at + 8, toTs: 0 }], lastTs: at + 8 });
  },

  "what lies beyond a check is known, and nothing below it": async (trial: Trial) => {
    await using checks = await openRunChecks(trial.subject.url);
    const run = uuidv7();
    const beyond = (checkedTo: number) => checks.beyond({ run, checkedTo, checkedTs: at }, never);
    expect(await beyond(0)).toBeUndefined();
    await store(trial, run, 3, 4);
    await refuse(trial, run, 8, 20);
    await trial.store.insertDeadLetters([letter(run, 25)], trial.options);
    expect(await beyond(0)).toEqual({ least: 3, greatest: 25 });
    expect(await beyond(9)).toEqual({ least: 10, greatest: 25 });
    expect(await beyond(25)).toBeUndefined();
  },

  "a run that was noted is due, and the check that came furthest stands": async (trial: Trial) => {
    await using checks = await openRunChecks(trial.subject.url);
    const run = uuidv7();
    const due = async () => (await checks.due(100_000, never)).find((check) => check.run === run);
    expect(await due()).toBeUndefined();
    await checks.note([run, run], never);
    expect(await due()).toEqual({ run, checkedTo: 0, checkedTs: 0 });
    await checks.save([{ run, checkedTo: 20, checkedTs: at }], never);
    await checks.save([{ run, checkedTo: 10, checkedTs: at - 1 }], never);
    await checks.note([run], never);
    expect(await due()).toEqual({ run, checkedTo: 20, checkedTs: at });
  },

  "holes are added up by age until they are filled or accepted": async (trial: Trial) => {
    await using checks = await openRunChecks(trial.subject.url);
    const run = uuidv7();
    const hole = (fromSeq: number, toSeq: number, foundAt: number): Hole => {
      return { run, fromSeq, toSeq, fromTs: 0, toTs: at, foundAt };
    };
    const [old, young, known] = [hole(3, 4, at), hole(7, 9, at + 10), hole(20, 24, at)];
    const save = (state: "open" | "filled" | "accepted", ...holes: Hole[]) =>
      checks.saveHoles(
        holes.map((each) => ({ ...each, state })),
        never,
      );
    await save("open", old, young, known);
    await save("accepted", known);
    expect(await openHoles(checks, run)).toEqual([old, young]);
    const sums = async () => (await checks.addUp(at + 5, 100_000, never)).filter((sum) => sum.run === run);
    expect(await sums()).toEqual([
      {
        run,
        young: { holes: 1, numbers: 3 },
        old: { holes: 1, numbers: 2 },
        accepted: 5,
        firstYoungSeq: 7,
        firstYoungFoundAt: at + 10,
      },
    ]);
    await save("filled", old, young);
    expect(await openHoles(checks, run)).toEqual([]);
    expect(await sums()).toEqual([]);
  },

  "dead letters that do not say their number are counted by run": async (trial: Trial) => {
    await using checks = await openRunChecks(trial.subject.url);
    const [run, other] = [uuidv7(), uuidv7()];
    const letters = [letter(run, 0), letter(run, 0), letter(run, 7)];
    await trial.store.insertDeadLetters(letters, trial.options);
    await trial.store.insertDeadLetters(letters, trial.options);
    expect(await checks.unnumberedLetters([run, other], never)).toEqual(new Map([[run, 2]]));
    expect(await checks.unnumberedLetters([], never)).toEqual(new Map());
  },
};

async function store({ store: clicks, rowsOf, options }: Trial, run: string, from: number, to: number) {
  await clicks.insertClicks(rowsOf(run, to - from + 1, { fromSeq: from, ts: at + from }), options);
}

async function refuse({ store: clicks, options }: Trial, run: string, from_seq: number, to_seq: number) {
  const range = { v: 1, kind: "refused", edge: "e", edge_run: run, reason: "full" } as const;
  await clicks.insertRefusedRanges([{ ...range, from_seq, to_seq, ts: at + to_seq }], options);
}

function letter(run: string, number: number): DeadLetter {
  return {
    log: "journal",
    topic: "clicks",
    recordId: `${run}:${uuidv7()}`,
    appendedAt: at,
    key: run,
    value: Buffer.from("{}"),
    reason: "wrong-field",
    error: "",
    version: "1",
    number,
  };
}

async function openHoles(checks: RunChecks, run: string): Promise<Hole[]> {
  const all = await checks.openHoles(100_000, never);
  return all.filter((hole) => hole.run === run).toSorted((a, b) => a.fromSeq - b.fromSeq);
}

function numbersBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
