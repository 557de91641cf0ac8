import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { connect, sql } from "../testing/raw-postgres.ts";
import { eventOf, openDeliveryWorld, parked, parkedMany, t0 } from "../testing/delivery-world.ts";
import type { TargetId } from "../targets/target.ts";
import type { Claimed, Leased } from "./delivery-store.ts";

const leaseMs = 30_000;

const leasedOf = ({ target, event, lease }: Claimed): Leased => ({ target, eventId: event.id, lease });

describeWith("what still has to be delivered, on a real Postgres", openDeliveryWorld, (world) => {
  const claim = (target: TargetId, now: number, count = 100, from = world().store) =>
    from.claim([{ target, count }], { now, leaseUntil: now + leaseMs });

  test("comes out as it went in, once however often it was parked", async () => {
    const { store, other, endpoint, counts } = world();
    const [one, two] = [await endpoint(), await endpoint()];
    const event = eventOf();
    const first = parked(one, { event, made: 3, replayed: true });
    const bare = { id: eventOf().id, type: "endpoint.test", workspaceId: 1, ts: t0, body: "{}" } as const;
    await Promise.all([store.park([first, parked(two, { event })], t0), other.park([first], t0)]);
    await store.park([{ ...first, made: 9, dueAt: t0 + 1_000_000 }, first], t0 + 1);
    await store.park([parked(one, { event: bare, dueAt: t0 + 1 })], t0);
    expect(await claim(one, t0 + 1)).toMatchObject([
      { target: one, event, made: 3, replayed: true },
      { target: one, event: bare, made: 1, replayed: false },
    ]);
    expect(await claim(two, t0)).toMatchObject([{ target: two, event }]);
    expect(await counts(one)).toMatchObject({ parked: 2, rows: 2 });
    expect(await sql(world().url, `SELECT id FROM delivery_events WHERE id = '${event.id}'`)).toHaveLength(1);
  });

  test("is never claimed by two at once, and comes in the order in which it is due", async () => {
    const { store, other, endpoint } = world();
    const targets = [await endpoint(), await endpoint(), await endpoint()];
    await store.park(
      // The youngest event is due first.
      targets.flatMap((target) =>
        parkedMany(target, 400).map((row) => ({ ...row, dueAt: 2 * t0 - row.dueAt })),
      ),
      t0,
    );
    const wants = targets.map((target) => ({ target, count: 30 }));
    const times = { now: t0 + 1_000, leaseUntil: t0 + 60_000 };
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? store : other).claim(wants, times)),
    );
    const all = claims.flat().map(({ target, event }) => `${target} ${event.id}`);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(90);
    const [first = []] = claims;
    const dueOrder = first.filter(({ target }) => target === targets[0]).map(({ event }) => event.id);
    expect(dueOrder).toEqual(dueOrder.toSorted().toReversed());
  });

  test("a claim waits for nobody: what another is taking just now it passes over", async () => {
    const { store, endpoint, url } = world();
    const target = await endpoint();
    const [first, second] = parkedMany(target, 2);
    if (first === undefined || second === undefined) throw new Error("nothing to park");
    await store.park([first, second], t0);
    await using other = await connect(url);
    await other.query("BEGIN");
    await other.query("SELECT FROM deliveries WHERE event_id = $1 FOR UPDATE", [first.event.id]);
    expect(await claim(target, t0 + 9)).toMatchObject([{ event: second.event }]);
    await other.query("ROLLBACK");
    expect(await claim(target, t0 + 9)).toMatchObject([{ event: first.event }]);
  });

  test("is not claimed before it is due, nor while it is leased; and again when the lease is over", async () => {
    const { store, other, endpoint } = world();
    const target = await endpoint();
    await store.park([parked(target, { dueAt: t0 + 5 })], t0);
    expect(await claim(target, t0 + 4)).toEqual([]);
    const [first] = await claim(target, t0 + 5);
    expect(await claim(target, t0 + 4 + leaseMs, 1, other)).toEqual([]);
    const [second] = await claim(target, t0 + 5 + leaseMs, 1, other);
    expect(second?.event).toEqual(first?.event);
    expect(second?.lease).not.toBe(first?.lease);
  });

  test("a row parked with a lease is its attempt's until it is due, and is settled under that name", async () => {
    const { store, endpoint, counts } = world();
    const target = await endpoint();
    const row = parked(target, { lease: "mine", dueAt: t0 + leaseMs });
    await store.park([row], t0);
    expect(await claim(target, t0 + leaseMs - 1)).toEqual([]);
    await store.settle([{ target, eventId: row.event.id, lease: "mine", kind: "done" }], t0);
    expect(await counts(target)).toMatchObject({ parked: 0, rows: 0 });
  });

  test("a settlement that comes late, under a lease that another holds by now, changes nothing", async () => {
    const { store, endpoint, counts } = world();
    const target = await endpoint();
    await store.park([parked(target)], t0);
    const [late] = await claim(target, t0);
    const [holder] = await claim(target, t0 + leaseMs);
    if (late === undefined || holder === undefined) throw new Error("nothing claimed");
    await store.settle([{ ...leasedOf(late), kind: "done" }], t0);
    await store.settle([{ ...leasedOf(late), kind: "dead", made: 9, code: "x" }], t0);
    await store.release([leasedOf(late)], t0);
    expect(await claim(target, t0 + leaseMs + 1)).toEqual([]);
    const dueAt = t0 + 100_000;
    await store.settle([{ ...leasedOf(holder), kind: "retry", made: 2, dueAt, code: "timeout" }], t0);
    await store.settle([{ ...leasedOf(holder), kind: "done" }], t0);
    expect(await counts(target)).toMatchObject({ parked: 1, rows: 1, dead: 0 });
    expect(await claim(target, dueAt - 1)).toEqual([]);
    expect(await claim(target, dueAt)).toMatchObject([{ made: 2 }]);
  });

  test("what is given back is due when it says, with as many attempts as before", async () => {
    const { store, endpoint } = world();
    const target = await endpoint();
    await store.park([parked(target, { made: 4 })], t0);
    const claimed = await claim(target, t0);
    await store.release(claimed.map(leasedOf), t0 + 7);
    expect(await claim(target, t0 + 6)).toEqual([]);
    expect(await claim(target, t0 + 7)).toMatchObject([{ made: 4 }]);
  });

  test("dead ones are listed, wait for nobody, and are due again when a person asks for it", async () => {
    const { store, endpoint, counts } = world();
    const target = await endpoint();
    const rows = [0, 1, 2].map((n) => parked(target, { event: eventOf({ ts: t0 + n }) }));
    await store.park(rows, t0);
    for (const claimed of await claim(target, t0)) {
      const deadAt = t0 + 10 + (claimed.event.ts - t0);
      await store.settle(
        [{ ...leasedOf(claimed), kind: "dead", made: 10, code: "gone", detail: "no" }],
        deadAt,
      );
    }
    expect(await counts(target)).toEqual({ parked: 0, rows: 0, dead: 3, deadRows: 3 });
    expect(await claim(target, t0 + 10 ** 9)).toEqual([]);
    const first = await store.dead(target, { limit: 2 });
    expect(first).toMatchObject([
      { ts: t0 + 2, deadAt: t0 + 12, made: 10, code: "gone", detail: "no", type: "link.clicked" },
      { ts: t0 + 1 },
    ]);
    const before = first[1];
    expect(await store.dead(target, { limit: 2, ...(before && { before }) })).toMatchObject([{ ts: t0 }]);
    expect(await store.redo(target, { fromTs: t0, toTs: t0 + 2 }, t0 + 99)).toBe(2);
    expect(await store.redo(target, { fromTs: t0, toTs: t0 + 2 }, t0 + 99)).toBe(0);
    expect(await claim(target, t0 + 99)).toMatchObject([
      { made: 0, replayed: true },
      { made: 0, replayed: true },
    ]);
    expect(await counts(target)).toEqual({ parked: 2, rows: 2, dead: 1, deadRows: 1 });
  });

  test("targets with something due come the longest waiting first; paused, disabled and unverified ones do not", async () => {
    const { store, endpoint, url } = world();
    const [a, b, c, d, e] = [
      await endpoint(),
      await endpoint(2),
      await endpoint(),
      await endpoint(),
      await endpoint(),
    ];
    const now = t0 - 10_000_000;
    await store.park(
      [a, b, c, d, e].map((target, n) => parked(target, { dueAt: now - n })),
      now,
    );
    await store.park([parked(b, { dueAt: now + 1 })], now);
    await store.pause(c, now + 1, "Retry-After");
    await sql(url, `UPDATE webhook_endpoints SET disabled_at = now() WHERE id = ${d.slice(3)}`);
    await sql(url, `UPDATE webhook_endpoints SET url = 'https://new.example/' WHERE id = ${e.slice(3)}`);
    const found = await store.due(now, 10);
    expect(found).toEqual([
      { target: b, workspaceId: 2, oldestDueAt: now - 1, parked: 2 },
      { target: a, workspaceId: 1, oldestDueAt: now, parked: 1 },
    ]);
    expect(await store.due(now, 1)).toHaveLength(1);
    expect((await store.due(now + 1, 10)).map(({ target }) => target)).toEqual([c, b, a]);
    expect((await store.backlog(now)).oldestDueAt).toBe(now - 1);
  });

  test("neither a workspace's many targets nor its failing ones push those of others, or its working ones, off the list of what is due", async () => {
    const { store, endpoint } = world();
    const now = t0 - 20_000_000;
    const many = await Promise.all(Array.from({ length: 6 }, () => endpoint(1)));
    const [working, other] = [await endpoint(1), await endpoint(2)];
    await Promise.all(many.slice(0, 4).map((target) => store.failing(target, now)));
    // Due earlier than those that it is about.
    await store.park(
      many.map((target, n) => parked(target, { dueAt: now - 100 + n })),
      now,
    );
    await store.park([parked(working, { dueAt: now - 50 }), parked(other, { dueAt: now })], now);
    const found = (await store.due(now, 5)).map(({ target }) => target);
    expect(found).toEqual([many[0], many[4], other, many[1], many[5]]);
    expect((await store.due(now, 7)).map(({ target }) => target)).toContain(working);
  });
});
