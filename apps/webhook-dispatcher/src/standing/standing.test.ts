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
    async working(targets) {
      statements += 1;
      for (const target of targets) since.delete(target);
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
  const successes = Array.from({ length: 600 }, (_, index) =>
    standing.succeeded("ep_1", 2 * minute + index * 100),
  );
  await Promise.all(successes);
  expect(statements()).toBe(3);
});

test("successes of a thousand targets at once are one statement", async () => {
  const { standing, statements } = setUp();
  await Promise.all(Array.from({ length: 1_000 }, (_, index) => standing.succeeded(`ep_${index}`, 0)));
  expect(statements()).toBe(1);
});

test("a failure right after a success counts", async () => {
  const { standing } = setUp();
  const working = standing.succeeded("ep_1", 0);
  await Promise.all([working, standing.failed("ep_1", 1)]);
  expect(await standing.failed("ep_1", patienceMs + 1)).toBe(true);
});
