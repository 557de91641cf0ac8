import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkRuns } from "./check-runs.ts";
import type { Gap, Hole, HoleState, RunCheck, RunChecks } from "./run-checks.ts";

const signal = new AbortController().signal;
const graceMs = 1_000;

/** One run, of which these numbers are accounted for. */
function createModel(present: ReadonlySet<number>): RunChecks & { readonly missing: () => number[] } {
  let check: RunCheck = { run: "run", checkedTo: 0, checkedTs: 0 };
  const holes = new Map<string, Hole & { readonly state: HoleState }>();
  const open = () => [...holes.values()].filter(({ state }) => state === "open");
  return {
    missing: () => [...new Set(open().flatMap(({ fromSeq, toSeq }) => numbersBetween(fromSeq, toSeq)))],
    async note() {},
    due: async () => [check],
    async beyond({ checkedTo }) {
      const numbers = [...present].filter((number) => number > checkedTo);
      return numbers.length === 0
        ? undefined
        : { least: Math.min(...numbers), greatest: Math.max(...numbers) };
    },
    async gaps(_run, { fromSeq, toSeq, limit }) {
      const gaps: Gap[] = [];
      for (const number of numbersBetween(fromSeq, toSeq)) {
        if (present.has(number)) continue;
        const last = gaps.at(-1);
        const begins = last?.toSeq === number - 1 ? gaps.pop()?.fromSeq : undefined;
        gaps.push({ fromSeq: begins ?? number, toSeq: number, fromTs: 0, toTs: 0 });
      }
      return { gaps: gaps.slice(0, limit), lastTs: 0 };
    },
    async save(checks) {
      for (const each of checks) if (each.checkedTo >= check.checkedTo) check = each;
    },
    async saveHoles(given) {
      for (const hole of given) holes.set(`${hole.fromSeq}-${hole.toSeq}`, hole);
    },
    openHoles: async () => open(),
    async addUp() {
      return [];
    },
    unnumberedLetters: async () => new Map(),
    async [Symbol.asyncDispose]() {},
  };
}

test("the open holes are what nothing accounts for, in whatever order it comes and two look for them at once", async () => {
  const arrival = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(6), fc.nat(2));
  await fc.assert(
    fc.asyncProperty(
      fc.array(arrival, { minLength: 1 }),
      fc.integer({ min: 1, max: 25 }),
      async (arrivals, width) => {
        const present = new Set<number>();
        const table = createModel(present);
        const pass = (wide: number) => checkRuns(table, { signal, graceMs, width: wide });
        for (const [first, more, passes] of arrivals) {
          for (const number of numbersBetween(first, first + more)) present.add(number);
          await Promise.all(Array.from({ length: passes }, (_, index) => pass(width + index)));
        }
        for (let step = 0; step < 3; step += 1) await pass(width);
        const all = numbersBetween(1, Math.max(...present));
        expect(table.missing().toSorted((a, b) => a - b)).toEqual(
          all.filter((number) => !present.has(number)),
        );
      },
    ),
  );
});

function numbersBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
