import { expect, test } from "vitest";
import { createStanding, patienceMs } from "./standing.ts";

const minute = 60_000;

/** A table of since when each target has failed. */
function setUp() {
  const since = new Map<string, number>();
  let statements = 0;
  const standing = createStanding({
    async failing(target, now) {
      statements += 1;
      since.set(target, since.get(target) ?? now);
      return since.get(target) ?? now;
    },
    async working(target) {
      statements += 1;
      since.delete(target);
    },
  });
  return { standing, statements: () => statements };
}

test("five days of failures without one success are too long, and a minute less is not", async () => {
  const { standing } = setUp();
  expect(await standing.failed("ep_1", 0)).toBe(false);
  expect(await standing.failed("ep_1", patienceMs - minute)).toBe(false);
  expect(await standing.failed("ep_1", patienceMs)).toBe(true);
});

test("one success begins the five days anew", async () => {
  const { standing } = setUp();
  await standing.failed("ep_1", 0);
  await standing.succeeded("ep_1", patienceMs - minute);
  expect(await standing.failed("ep_1", patienceMs)).toBe(false);
});

test("what was said is said again once a minute, however many outcomes there are", async () => {
  const { standing, statements } = setUp();
  for (let at = 0; at < 2 * minute; at += 100) await standing.failed("ep_1", at);
  expect(statements()).toBe(2);
  for (let at = 0; at < minute; at += 100) await standing.succeeded("ep_1", 2 * minute + at);
  expect(statements()).toBe(3);
});
