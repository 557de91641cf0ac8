import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import { openPostgres, type Query } from "../postgres.ts";
import { claimDue, listDue, listWaitingOf, releaseLeased, settleLeased } from "../queries/deliveries.ts";
import { insertParked } from "../queries/park-deliveries.ts";
import { openDeliveryWorld, parkedMany, t0 } from "../testing/delivery-world.ts";
import { sql } from "../testing/raw-postgres.ts";

const Plan = z.tuple([
  z.object({
    "QUERY PLAN": z.tuple([
      z.object({
        Plan: z.object({ "Shared Hit Blocks": z.number(), "Shared Read Blocks": z.number() }),
      }),
    ]),
  }),
]);

/** How many pages a statement touches, which, other than its time, is the same on a busy machine. */
function countPages(query: Query) {
  const pages: number[] = [];
  return {
    pages,
    query: async (text: string, values: readonly unknown[]): Promise<unknown[]> => {
      const rows = Plan.parse(await query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values));
      const { Plan: plan } = rows[0]["QUERY PLAN"][0];
      pages.push(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]);
      return [];
    },
  };
}

describeWith("a million deliveries parked for one customer", openDeliveryWorld, (world) => {
  test("that came in a burst cost no page more while Postgres has not counted them yet", async () => {
    const { url, store, endpoint } = world();
    await using postgres = openPostgres(url, silentLog);
    const target = await endpoint(1);
    await sql(
      url,
      `INSERT INTO deliveries (event_id, target, due_at, made, replayed)
       SELECT ('01910000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, '${target}', ${t0}, 1, false
       FROM generate_series(1, 50000) AS n`,
    );
    const rows = parkedMany(target, 30).map((row) => ({ ...row, lease: "a" }));
    await store.park(rows, t0);
    const leased = rows.map(({ event }) => ({ target, eventId: event.id, lease: "a" }));
    const { query, pages } = countPages(postgres.query);
    await listWaitingOf(query, leased);
    await releaseLeased(query, leased.slice(0, 10), t0);
    await settleLeased(
      query,
      leased.slice(10).map((row) => ({ ...row, kind: "done" as const })),
      t0,
    );
    // Read for each row, the backlog would be thousands of pages each time.
    expect(pages).toHaveLength(3);
    expect(Math.max(...pages)).toBeLessThan(500);
    await sql(url, "TRUNCATE deliveries");
  });

  test("cost another customer's claim, settlement and parking no page more, and theirs as little", async () => {
    const { url, store, endpoint } = world();
    await using postgres = openPostgres(url, silentLog);
    const [full, small] = [await endpoint(1), await endpoint(2)];
    await store.park(parkedMany(small, 200), t0);
    await sql(
      url,
      `INSERT INTO deliveries (event_id, target, due_at, made, replayed)
       SELECT ('01910000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, '${full}', ${t0} + n, 1, false
       FROM generate_series(1, 1000000) AS n;
       UPDATE delivery_targets SET parked = 1000000 WHERE target = '${full}';
       ANALYZE deliveries`,
    );
    const { query, pages } = countPages(postgres.query);
    const rows = parkedMany(small, 20).map((row) => ({ ...row, lease: "a" }));
    await insertParked(query, rows, { perTarget: 2_000_000, perWorkspace: 2_000_000 }, t0);
    for (const target of [small, full]) {
      const times = { now: t0 + 10 ** 7, leaseUntil: t0 + 10 ** 8, lease: "b" };
      await claimDue(query, { wants: [{ target, count: 20 }], ...times });
    }
    const leased = rows.map(({ event }) => ({ target: small, eventId: event.id, lease: "a" }));
    await settleLeased(
      query,
      leased.map((row) => ({ ...row, kind: "done" as const })),
      t0,
    );
    await listDue(query, t0 + 10 ** 7, 100);
    // Twenty rows, each found, locked and changed in two or three indexes of three levels. All rows are on 12,000 pages.
    expect(pages).toHaveLength(5);
    expect(Math.max(...pages)).toBeLessThan(1_500);
    expect(await store.due(t0 + 10 ** 7, 10)).toHaveLength(2);
  });
});
