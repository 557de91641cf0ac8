import { expect, test } from "vitest";

import type { Health } from "./health.ts";
import { createBackoff, openWhenReachable, sleep } from "./retry.ts";
import { ServiceError } from "./service-error.ts";

function health() {
  const waits: (string | undefined)[] = [];
  const said: Health = { check() {}, ready() {}, degraded: (_name, reason) => waits.push(reason) };
  return { health: said, waits };
}

test("back-off: anywhere between nothing and a ceiling that doubles up to its limit, until it is reset", () => {
  const highest = createBackoff({ minMs: 100, maxMs: 1000, random: () => 1 });
  expect(Array.from({ length: 6 }, () => highest.next())).toEqual([100, 200, 400, 800, 1000, 1000]);
  highest.reset();
  expect(highest.next()).toBe(100);
  const lowest = createBackoff({ minMs: 100, maxMs: 1000, random: () => 0 });
  expect(Array.from({ length: 3 }, () => lowest.next())).toEqual([0, 0, 0]);
});

test("a sleep ends with the signal, also one that aborted before", async () => {
  const controller = new AbortController();
  const sleeping = sleep(3_600_000, controller.signal);
  controller.abort();
  await expect(sleeping).rejects.toMatchObject({ name: "AbortError" });
  await expect(sleep(3_600_000, controller.signal)).rejects.toMatchObject({ name: "AbortError" });
});

test("what is not reachable is tried again until it opens, and health says what is waited for", async () => {
  const { health: said, waits } = health();
  let attempts = 0;
  async function open(): Promise<string> {
    if (++attempts < 3) throw new ServiceError("address", `refused ${attempts}`);
    return "opened";
  }
  const opened = openWhenReachable("db", open, { health: said, signal: new AbortController().signal });
  expect(await opened).toBe("opened");
  expect(waits).toEqual(["waiting to open it: refused 1", "waiting to open it: refused 2", undefined]);
});

test("what waiting cannot mend is thrown at once, unless the caller wants to wait on it", async () => {
  const { health: said } = health();
  const controller = new AbortController();
  const { signal } = controller;
  await expect(openWhenReachable("db", wrong, { health: said, signal })).rejects.toThrow("wrong");
  const patient = openWhenReachable("db", wrong, { health: said, signal }, () => {
    controller.abort();
    return true;
  });
  await expect(patient).rejects.toMatchObject({ name: "AbortError" });
});

async function wrong(): Promise<never> {
  throw new ServiceError("config", "wrong");
}
