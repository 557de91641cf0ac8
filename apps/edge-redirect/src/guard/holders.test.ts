import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createHolders } from "./holders.ts";

const any = (): boolean => true;

describe("the one who holds the most", () => {
  it("is known after any giving and taking", () => {
    const step = fc.record({ name: fc.constantFrom("a", "b", "c", "d"), add: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const holders = createHolders<string>();
        const held = new Map<string, string[]>();
        for (const [index, { name, add }] of steps.entries()) {
          const mine = held.get(name) ?? [];
          held.set(name, mine);
          const thing = `${name}${index}`;
          const taken = add ? undefined : mine.shift();
          if (add) mine.push(thing);
          if (add) holders.add(holders.holder(name), thing);
          else if (taken !== undefined) holders.remove(holders.holder(name), taken);
          const found = held.get(holders.find(any)?.at(0) ?? "") ?? [];
          expect(found.length).toBe(Math.max(...[...held.values()].map(({ length }) => length)));
        }
      }),
    );
  });

  it("gives what suits first, the oldest first", () => {
    const holders = createHolders<number>();
    for (const thing of [1, 2, 3, 4]) holders.add(holders.holder("a"), thing);
    holders.add(holders.holder("b"), 0);
    expect(holders.find((thing) => thing % 2 === 0)).toBe(2);
    expect(holders.find((thing) => thing === 0)).toBeUndefined();
    expect(holders.find(any)).toBe(1);
  });

  it("is found in the same time among ten thousand as among ten", () => {
    const holders = createHolders<string>();
    for (let peer = 0; peer < 10_000; peer += 1) holders.add(holders.holder(`p${peer}`), `p${peer}`);
    let looked = 0;
    holders.find(() => {
      looked += 1;
      return false;
    });
    expect(looked).toBeLessThan(50);
  });
});
