import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { eventOf, openDeliveryWorld, parked, t0 } from "../testing/delivery-world.ts";
import { sql } from "../testing/raw-postgres.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { deadMs, ledgerMs, unawaitedMs } from "./retention.ts";

async function sweepAll(store: DeliveryStore, now: number): Promise<void> {
  while (await store.sweep(now)) continue;
}

describeWith("sweeping and erasing deliveries", openDeliveryWorld, (world) => {
  const stored = async (ids: readonly string[]) => {
    const rows = await sql(
      world().url,
      `SELECT id FROM delivery_events WHERE id IN (${ids.map((id) => `'${id}'`).join()})`,
    );
    return rows.length;
  };

  test("an event goes when nobody waits for it any more, and not while a single one does", async () => {
    const { store, endpoint } = world();
    const [one, two] = [await endpoint(), await endpoint()];
    const [shared, alone] = [eventOf(), eventOf()];
    const row = { lease: "a", dueAt: t0 + 10 ** 6 };
    await store.park(
      [
        parked(one, { event: shared, ...row }),
        parked(two, { event: shared, ...row }),
        parked(one, { event: alone, ...row }),
      ],
      t0,
    );
    await store.settle(
      [shared, alone].map(({ id }) => ({ target: one, eventId: id, lease: "a", kind: "done" })),
      t0,
    );
    await sweepAll(store, t0 + unawaitedMs - 1);
    expect(await stored([shared.id, alone.id])).toBe(2);
    await sweepAll(store, t0 + unawaitedMs);
    expect(await stored([alone.id])).toBe(0);
    expect(await stored([shared.id])).toBe(1);
    await store.park([parked(one, { event: alone })], t0 + unawaitedMs);
    await store.settle(
      [{ target: two, eventId: shared.id, lease: "a", kind: "dead", made: 9, code: "x" }],
      t0,
    );
    await sweepAll(store, t0 + 2 * unawaitedMs);
    expect(await stored([shared.id, alone.id])).toBe(2);
  });

  test("dead rows go after 30 days with their events; what a disabled target never got is counted as not kept", async () => {
    const { store, endpoint, counts } = world();
    const target = await endpoint();
    const [dead, due, young] = [eventOf(), eventOf({ ts: t0 + 3 }), eventOf()];
    const lease = "a";
    await store.park(
      [
        parked(target, { event: dead, lease }),
        parked(target, { event: due }),
        parked(target, { event: young, dueAt: t0 + 1 }),
      ],
      t0,
    );
    await store.settle([{ target, eventId: dead.id, lease, kind: "dead", made: 9, code: "x" }], t0);
    await sweepAll(store, t0 + deadMs - 1);
    expect(await counts(target)).toEqual({ parked: 2, rows: 2, dead: 1, deadRows: 1 });
    await sweepAll(store, t0 + deadMs);
    expect(await counts(target)).toEqual({ parked: 1, rows: 1, dead: 0, deadRows: 0 });
    expect(await stored([dead.id, due.id, young.id])).toBe(1);
    expect(await store.gaps(target)).toEqual([{ fromTs: t0 + 3, toTs: t0 + 3, count: 1 }]);
    await sweepAll(store, t0 + 2 * deadMs);
    expect(await store.gaps(target)).toEqual([{ fromTs: t0, toTs: t0 + 3, count: 2 }]);
    await sweepAll(store, t0 + 3 * deadMs);
    expect(await store.gaps(target)).toEqual([]);
  });

  test("the ledger, ended pauses and dispatchers that are gone go when their time is over", async () => {
    const { store, endpoint, url } = world();
    const target = await endpoint();
    const pair = { target, eventId: eventOf().id };
    await store.take([pair], t0);
    await store.pause(target, t0 + ledgerMs, "x");
    await store.beat("gone", t0);
    await sweepAll(store, t0 + ledgerMs - 1);
    const ledger = `SELECT FROM delivery_ledger WHERE event_id = '${pair.eventId}'`;
    const pauses = `SELECT FROM delivery_targets WHERE target = '${target}' AND paused_until IS NOT NULL`;
    expect([await sql(url, ledger), await sql(url, pauses)]).toEqual([[{}], [{}]]);
    await sweepAll(store, t0 + ledgerMs);
    expect([await sql(url, ledger), await sql(url, pauses)]).toEqual([[], []]);
    expect(await sql(url, "SELECT FROM dispatchers WHERE name = 'gone'")).toEqual([]);
  });

  test("an erasure takes out what waits for these clicks, due, leased and dead, and nothing else", async () => {
    const { store, endpoint, counts } = world();
    const [one, two] = [await endpoint(), await endpoint()];
    const visitor = "f".repeat(32);
    const gone = [eventOf({ visitor }), eventOf({ visitor, ts: t0 - 1 }), eventOf({ visitor })];
    const kept = [
      eventOf({ visitor, ts: t0 + 1 }),
      eventOf({ visitor, workspaceId: 2 }),
      eventOf(),
      eventOf({ visitor, type: "endpoint.disabled" }),
    ];
    await store.park(
      [...gone, ...kept].flatMap((event) => [parked(one, { event, lease: "a" }), parked(two, { event })]),
      t0,
    );
    const [first] = gone;
    if (first === undefined) throw new Error("no event");
    await store.settle(
      [{ target: one, eventId: first.id, lease: "a", kind: "dead", made: 1, code: "x" }],
      t0,
    );
    expect(await store.countErased({ workspaceId: 1, visitor, upTo: t0 })).toBe(3);
    await store.erase({ workspaceId: 1, visitor, upTo: t0 });
    expect(await store.countErased({ workspaceId: 1, visitor, upTo: t0 })).toBe(0);
    expect(await stored(gone.map(({ id }) => id))).toBe(0);
    expect(await stored(kept.map(({ id }) => id))).toBe(kept.length);
    for (const target of [one, two]) {
      expect(await counts(target)).toEqual({ parked: 4, rows: 4, dead: 0, deadRows: 0 });
    }
    await store.erase({ workspaceId: 1, linkId: 7, upTo: t0 + 1 });
    expect(await counts(two)).toMatchObject({ parked: 2, rows: 2 });
  });
});
