import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { eventOf, openDeliveryWorld, t0 } from "../testing/delivery-world.ts";
import { aliveMs, ledgerMs } from "./retention.ts";

describeWith("what dispatchers tell each other", openDeliveryWorld, (world) => {
  test("a pause is seen by all until it ends, and is only ever lengthened", async () => {
    const { store, other, endpoint } = world();
    const target = await endpoint();
    await Promise.all([store.pause(target, t0 + 10, "one"), other.pause(target, t0 + 90, "two")]);
    await store.pause(target, t0 + 20, "three");
    for (const each of [store, other]) {
      expect(await each.pauses(t0 + 89)).toEqual(new Map([[target, t0 + 90]]));
      expect(await each.pauses(t0 + 90)).toEqual(new Map());
    }
  });

  test("of two processes that take a pair at once one gets it; nobody else for 72 hours, unless it is given back", async () => {
    const { store, other, endpoint } = world();
    const [one, two] = [await endpoint(), await endpoint()];
    const ids = Array.from({ length: 200 }, () => eventOf().id);
    const pairs = ids.flatMap((eventId) => [one, two].map((target) => ({ target, eventId })));
    const [mine, theirs] = await Promise.all([
      store.take([...pairs, ...pairs], t0),
      other.take(pairs.toReversed(), t0),
    ]);
    const all = [...mine, ...theirs];
    expect(all.length).toBe(pairs.length);
    expect(new Set(all)).toEqual(new Set(pairs.map(({ target, eventId }) => `${target} ${eventId}`)));
    expect(await store.take(pairs, t0 + ledgerMs - 1)).toEqual(new Set());
    const [first, ...rest] = pairs;
    if (first === undefined) throw new Error("no pair");
    await store.untake([first]);
    expect(await other.take(pairs, t0 + 1)).toEqual(new Set([`${first.target} ${first.eventId}`]));
    expect((await other.take(rest, t0 + ledgerMs)).size).toBe(rest.length);
  });

  test("who has not been seen for five seconds, or has left, is not counted", async () => {
    const { store, other } = world();
    expect(await store.beat("one", t0)).toBe(1);
    expect(await other.beat("two", t0 + aliveMs - 1)).toBe(2);
    expect(await other.beat("two", t0 + aliveMs)).toBe(1);
    expect(await store.beat("one", t0 + aliveMs + 1)).toBe(2);
    await other.leave("two");
    expect(await store.beat("one", t0 + aliveMs + 2)).toBe(1);
  });

  test("a target fails since its first failure after its last success", async () => {
    const { store, other, endpoint } = world();
    const target = await endpoint();
    await store.working([target]);
    expect(await store.failing(target, t0)).toBe(t0);
    expect(await other.failing(target, t0 + 5)).toBe(t0);
    await other.working([target]);
    await store.working([target]);
    expect(await store.failing(target, t0 + 9)).toBe(t0 + 9);
    expect(await store.failing("px_999", t0 + 9)).toBe(t0 + 9);
  });
});
