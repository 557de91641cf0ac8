import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { eventOf, openDeliveryWorld, parked, parkedMany, t0 } from "../testing/delivery-world.ts";
import { sql } from "../testing/raw-postgres.ts";

const hourMs = 3_600_000;
/** So that the events' hours are known. */
const hour = Math.floor(t0 / hourMs) * hourMs;

const open = () => openDeliveryWorld({ perTarget: 10, perWorkspace: 25, deadPerTarget: 5 });

describeWith("the bounds of a backlog", open, (world) => {
  test("what is over a target's bound is not kept but counted in its range of time; repeats are neither", async () => {
    const { store, endpoint, counts } = world();
    const [full, beside] = [await endpoint(2), await endpoint(2)];
    const rows = Array.from({ length: 14 }, (_, n) =>
      parked(full, { event: eventOf({ ts: hour + n, workspaceId: 2 }) }),
    );
    expect(await store.park([...rows, parked(beside)], t0)).toEqual(new Map([[full, 4]]));
    expect(await counts(full)).toMatchObject({ parked: 10, rows: 10 });
    expect(await counts(beside)).toMatchObject({ parked: 1 });
    expect(await store.park(rows.slice(0, 10), t0)).toEqual(new Map());
    const later = parked(full, { event: eventOf({ ts: hour + hourMs }) });
    await store.park([later, parked(full, { event: eventOf({ ts: hour + 1 }) })], t0);
    expect(await store.gaps(full)).toEqual([
      { fromTs: hour + 1, toTs: hour + 13, count: 5 },
      { fromTs: hour + hourMs, toTs: hour + hourMs, count: 1 },
    ]);
    expect(await store.gaps(beside)).toEqual([]);
  });

  test("what is over a workspace's share is not kept, whichever of its targets it is for, and others are not touched", async () => {
    const { store, endpoint } = world();
    const targets = [await endpoint(), await endpoint(), await endpoint(), await endpoint()];
    const foreign = await endpoint(2);
    for (const target of targets) await store.park(parkedMany(target, 7), t0);
    const missed = await Promise.all(targets.map((target) => store.gaps(target)));
    expect(missed.map(([gap]) => gap?.count ?? 0)).toEqual([0, 0, 0, 3]);
    expect(await store.park([parked(foreign)], t0)).toEqual(new Map());
    const [first = foreign] = targets;
    const claimed = await store.claim([{ target: first, count: 2 }], { now: t0 + 9, leaseUntil: t0 + 99 });
    const done = claimed.map(({ event, lease }) => ({
      target: first,
      eventId: event.id,
      lease,
      kind: "done" as const,
    }));
    await store.settle(done, t0);
    const again = await store.park(
      targets.flatMap((target) => parkedMany(target, 1)),
      t0,
    );
    expect([...again.values()]).toEqual([1, 1]);
  });

  test("for a target that was deleted nothing is kept, and what waited for it is swept away", async () => {
    const { store, endpoint, url } = world();
    const target = await endpoint(2);
    await store.park(parkedMany(target, 3), t0);
    await sql(url, `DELETE FROM webhook_endpoints WHERE id = ${target.slice(3)}`);
    expect(await store.park(parkedMany(target, 3), t0)).toEqual(new Map());
    expect(await store.due(t0 + 99, 100)).not.toContainEqual(expect.objectContaining({ target }));
    while (await store.sweep(t0)) continue;
    expect(await sql(url, `SELECT FROM deliveries WHERE target = '${target}'`)).toEqual([]);
    expect(await sql(url, `SELECT FROM delivery_targets WHERE target = '${target}'`)).toEqual([]);
  });

  test("the longest dead of a target go when there are too many of them", async () => {
    const { store, endpoint, counts } = world();
    const target = await endpoint(2);
    const rows = parkedMany(target, 8);
    for (const [n, row] of rows.entries()) {
      await store.park([{ ...row, lease: "a" }], t0);
      const settled = {
        target,
        eventId: row.event.id,
        lease: "a",
        kind: "dead",
        made: 1,
        code: "gone",
      } as const;
      await store.settle([settled], t0 + n);
    }
    while (await store.sweep(t0 + 10)) continue;
    const left = await store.dead(target, { limit: 10 });
    expect(left.map(({ deadAt }) => deadAt - t0)).toEqual([7, 6, 5, 4, 3]);
    expect(await counts(target)).toEqual({ parked: 0, rows: 0, dead: 5, deadRows: 5 });
  });
});
