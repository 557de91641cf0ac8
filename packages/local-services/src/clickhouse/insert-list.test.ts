import { setImmediate as nextTurn } from "node:timers/promises";

import { expect, it } from "vitest";

import type { Engine } from "./engine.ts";
import { createInsertList } from "./insert-list.ts";

/** An engine whose list of processes is what the test says. */
function listing() {
  const listed: string[] = [];
  const engine: Engine = {
    async run() {
      const bytes = Buffer.from(listed.map((path) => `INSERT INTO t FROM INFILE '${path}'\n`).join(""));
      return { bytes, rowCount: 0, rowBytes: 0, elapsedSeconds: 0 };
    },
    [Symbol.dispose]() {},
  };
  return { inserts: createInsertList(engine), listed };
}

it("the list is complete when each insert begun is on it or has ended, and not before", async () => {
  const { inserts, listed } = listing();
  const first = inserts.add("spool/1");
  inserts.add("spool/10");
  let complete = false;
  const done = inserts.complete().then(() => (complete = true));
  listed.push("spool/10");
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(complete).toBe(false);
  first[Symbol.dispose]();
  await done;

  inserts.add("spool/2");
  const again = inserts.complete();
  listed.push("spool/2");
  // Nobody who begins meanwhile is waited for.
  inserts.add("spool/3");
  await again;
});
