import { setTimeout as delay } from "node:timers/promises";
import type { Settlement } from "@sluice/link-store/deliveries/delivery-store.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { expect, test } from "vitest";
import { createGate } from "../dispatch/gate.ts";
import { createSettler } from "./settler.ts";

const done = (number: number): Settlement => ({
  target: "ep_1",
  eventId: String(number),
  lease: "mine",
  kind: "done",
});

function setUp(answer: () => Promise<void> = async () => {}) {
  const gate = createGate();
  const settled: string[] = [];
  const settler = createSettler({
    async settle(some) {
      await answer();
      settled.push(...some.map(({ eventId }) => eventId));
    },
    parked: () => gate.passed(),
    log: silentLog,
    maxWaitMs: 1,
  });
  return { gate, settler, settled };
}

test("an outcome that comes while its batch is being parked is settled once that is done", async () => {
  const { gate, settler, settled } = setUp();
  gate.shut();
  settler.add(done(1));
  await delay(30);
  expect(settled).toEqual([]);
  gate.open();
  await settler.flush(AbortSignal.timeout(5_000));
  expect(settled).toEqual(["1"]);
});

test("while Postgres is away outcomes wait for it, in their order", async () => {
  let failures = 3;
  const { settler, settled } = setUp(async () => {
    if (failures-- > 0) throw new LinkStoreError("unavailable", "away");
  });
  settler.add(done(1));
  await delay(5);
  settler.add(done(2));
  await settler.flush(AbortSignal.timeout(10_000));
  expect(settled).toEqual(["1", "2"]);
});

test("a flush ends when its time is over, though Postgres stays away", async () => {
  const { settler } = setUp(() => Promise.reject(new LinkStoreError("unavailable", "away")));
  settler.add(done(1));
  await delay(5);
  await expect(settler.flush(AbortSignal.timeout(50))).rejects.toThrow("abort");
});
