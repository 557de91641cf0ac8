import { describeWith } from "@sluice/testkit/describe-with.ts";
import { seeded, testSeed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";
import { eventOf, openDeliveryWorld, parked, t0 } from "../testing/delivery-world.ts";
import { sql } from "../testing/raw-postgres.ts";
import type { TargetId } from "../targets/target.ts";
import type { Claimed, DeliveryStore, NewParked, Settlement } from "./delivery-store.ts";

/** What one row should be. */
interface ModelRow {
  dueAt: number;
  made: number;
  lease: string | undefined;
  dead: boolean;
}

const name = (target: TargetId, eventId: string) => `${target} ${eventId}`;

describeWith(`deliveries under random interleavings, seed ${testSeed}`, openDeliveryWorld, (world) => {
  const random = seeded(testSeed);
  const upTo = (count: number) => Math.floor(random() * count);

  function settlementOf({ target, event, lease, made }: Claimed, now: number): Settlement {
    const leased = { target, eventId: event.id, lease };
    const lot = upTo(4);
    if (lot === 0) return { ...leased, kind: "dead", made: made + 1, code: "gone" };
    if (lot === 1)
      return { ...leased, kind: "retry", made: made + 1, dueAt: now + upTo(20), code: "timeout" };
    return { ...leased, kind: "done" };
  }

  test("one after another they do what a model does, claims in order, and the counts are those of the rows", async () => {
    const { store, endpoint, counts } = world();
    const targets = await Promise.all([endpoint(), endpoint(), endpoint(2)]);
    const target = () => targets[upTo(3)] ?? "ep_1";
    const model = new Map<string, ModelRow>();
    const events = Array.from({ length: 40 }, () => eventOf());
    let held: Claimed[] = [];

    async function park(now: number): Promise<void> {
      const rows = Array.from({ length: upTo(6) }, () =>
        parked(target(), { event: events[upTo(40)] ?? eventOf(), dueAt: now + upTo(10), made: upTo(3) }),
      );
      await store.park(rows, now);
      for (const { target: to, event, dueAt, made } of rows) {
        const key = name(to, event.id);
        if (!model.has(key)) model.set(key, { dueAt, made, lease: undefined, dead: false });
      }
    }
    async function claim(now: number): Promise<void> {
      const wanted = target();
      const claimed = await store.claim([{ target: wanted, count: 4 }], { now, leaseUntil: now + 15 });
      const due = [...model].filter(
        ([key, row]) => key.startsWith(`${wanted} `) && !row.dead && row.dueAt <= now,
      );
      const known = claimed.map((row) => model.get(name(row.target, row.event.id)));
      const dues = due.map(([, row]) => row.dueAt).toSorted((a, b) => a - b);
      expect(known.map((row) => row?.dueAt)).toEqual(dues.slice(0, 4));
      expect(claimed.map(({ made }) => made)).toEqual(known.map((row) => row?.made));
      for (const { target: to, event, made, lease } of claimed) {
        model.set(name(to, event.id), { dueAt: now + 15, made, lease, dead: false });
      }
      held.push(...claimed);
    }
    async function settle(now: number): Promise<void> {
      const settlements = held.filter(() => random() < 0.7).map((row) => settlementOf(row, now));
      await store.settle(settlements, now);
      for (const each of settlements) settleModel(model, each);
      // Else they are settled again, late.
      if (random() < 0.5) held = [];
    }
    async function release(now: number): Promise<void> {
      const given = held.filter(() => random() < 0.3);
      const leases = given.map((row) => ({ target: row.target, eventId: row.event.id, lease: row.lease }));
      await store.release(leases, now + 2);
      for (const { target: to, eventId, lease } of leases) {
        const row = model.get(name(to, eventId));
        if (row?.lease === lease && !row.dead) Object.assign(row, { lease: undefined, dueAt: now + 2 });
      }
    }

    const steps = [park, park, claim, settle, settle, release];
    for (let step = 0; step < 300; step += 1) await steps[upTo(steps.length)]?.(t0 + step);
    for (const to of targets) {
      const rows = [...model].filter(([key]) => key.startsWith(`${to} `));
      const dead = rows.filter(([, row]) => row.dead).length;
      const expected = { parked: rows.length - dead, dead };
      expect(await counts(to)).toEqual({ ...expected, rows: expected.parked, deadRows: expected.dead });
    }
  });

  test("at once, from two dispatchers, none waits in a circle, no row is held twice, and the counts are those of the rows", async () => {
    const { store, other, endpoint, counts, url } = world();
    const targets = await Promise.all(Array.from({ length: 12 }, () => endpoint()));
    const events = Array.from({ length: 60 }, () => eventOf());
    const holders = new Map<string, number>();
    const rowsOf = (): NewParked[] =>
      Array.from({ length: 40 }, () =>
        parked(targets[upTo(12)] ?? "ep_1", { event: events[upTo(60)] ?? eventOf() }),
      );

    async function work(from: DeliveryStore, turns: number): Promise<void> {
      for (let turn = 0; turn < turns; turn += 1) {
        await from.park(rowsOf(), t0);
        const wants = targets.filter(() => random() < 0.6).map((target) => ({ target, count: 6 }));
        const claimed = await from.claim(wants, { now: t0 + 1_000, leaseUntil: t0 + 10 ** 6 });
        for (const row of claimed) hold(name(row.target, row.event.id), 1);
        const settled = claimed.map((row) => settlementOf(row, t0));
        // Before the call: from then on another may have it.
        for (const row of claimed) hold(name(row.target, row.event.id), -1);
        await from.settle(settled.toReversed(), t0);
        if (turn % 5 === 0) await from.redo(targets[upTo(12)] ?? "ep_1", { fromTs: 0, toTs: t0 + 1 }, t0);
        if (turn % 7 === 0) await from.sweep(t0 + 1_000);
        if (turn === 11) await from.erase({ workspaceId: 1, linkId: 8, upTo: t0 });
      }
    }
    function hold(key: string, by: number): void {
      const count = (holders.get(key) ?? 0) + by;
      expect(count).toBeLessThanOrEqual(1);
      holders.set(key, count);
    }

    await Promise.all([work(store, 25), work(other, 25), work(store, 25), work(other, 25)]);
    for (const target of targets) {
      const { parked: count, rows, dead, deadRows } = await counts(target);
      expect({ count, dead }).toEqual({ count: rows, dead: deadRows });
    }
    const orphans = `SELECT FROM deliveries WHERE event_id NOT IN (SELECT id FROM delivery_events)`;
    expect(await sql(url, orphans)).toEqual([]);
  });
});

function settleModel(model: Map<string, ModelRow>, settlement: Settlement): void {
  const key = name(settlement.target, settlement.eventId);
  const row = model.get(key);
  if (row?.lease !== settlement.lease || row.dead) return;
  if (settlement.kind === "done") model.delete(key);
  else Object.assign(row, { lease: undefined, made: settlement.made, dead: settlement.kind === "dead" });
  if (settlement.kind === "retry") row.dueAt = settlement.dueAt;
}
