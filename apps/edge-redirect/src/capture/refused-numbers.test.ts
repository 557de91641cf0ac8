import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createRefusedNumbers } from "./refused-numbers.ts";

describe("refused numbers", () => {
  it("are one range as long as they follow each other", () => {
    const refused = createRefusedNumbers();
    for (let seq = 5; seq <= 5000; seq += 1) refused.add(seq, "full");
    expect(refused.list()).toEqual([{ from: 5, to: 5000, reason: "full" }]);
  });

  it("keep what was added while a range was being written", () => {
    const refused = createRefusedNumbers();
    refused.add(1, "full");
    const [writing] = refused.list();
    refused.add(2, "full");
    if (writing !== undefined) refused.remove(writing);
    expect(refused.list()).toEqual([{ from: 2, to: 2, reason: "full" }]);
  });

  it("cover exactly the refused ones, whatever is written in between", () => {
    const reason = fc.constantFrom("full" as const, "error" as const);
    const step = fc.record({ refused: fc.boolean(), reason, write: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const refused = createRefusedNumbers();
        const written: number[] = [];
        const write = () => {
          for (const range of refused.list()) {
            for (let seq = range.from; seq <= range.to; seq += 1) written.push(seq);
            refused.remove(range);
          }
        };
        for (const [index, { refused: isRefused, reason: why, write: chance }] of steps.entries()) {
          if (isRefused) refused.add(index + 1, why);
          if (chance === 0) write();
        }
        write();
        const expected = steps.flatMap((each, index) => (each.refused ? [index + 1] : []));
        expect(written).toEqual(expected);
      }),
    );
  });

  it("take bounded memory: beyond it a range covers accepted numbers too, and none is left out", () => {
    const refused = createRefusedNumbers();
    for (let seq = 1; seq <= 10_000; seq += 2) refused.add(seq, "full");
    const ranges = refused.list();
    expect(ranges).toHaveLength(1000);
    expect(ranges.at(-1)).toEqual({ from: 1999, to: 9999, reason: "full" });
  });
});
