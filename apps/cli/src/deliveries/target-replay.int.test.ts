import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { decodeEnriched } from "@sluice/click-event/decode-enriched.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import { openErasures } from "@sluice/click-store/erasures.ts";
import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import { migrate } from "@sluice/link-store/migrate.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { sql } from "@sluice/link-store/testing/raw-postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";
import { z } from "zod";

import { delivered, playDispatcher, secretKey } from "../testing/dispatcher.ts";
import { runHere } from "../testing/run-here.ts";
import { storeClicks } from "../testing/stored-clicks.ts";

async function openStores(clickStore: "clickhouse" | "postgres") {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await testPostgres());
  const clickhouse = clickStore === "clickhouse" ? stack.use(await testClickHouse()) : undefined;
  const clicksUrl = clickhouse === undefined ? url : `${clickhouse.url}/${clickhouse.database}`;
  await migrate(url, { log: silentLog });
  await migrateClicks(clicksUrl, { log: silentLog });
  const env = { DATABASE_URL: url, CLICK_STORE_URL: clicksUrl, SECRET_KEYS: secretKey };
  await runHere(env, ["link", "create", "https://example.com/"]);
  const deliveries = stack.use(openDeliveryStore(url, { log: silentLog }));
  const opened = stack.move();
  return { env, url, clicksUrl, deliveries, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const signal = new AbortController().signal;
const [from, to] = ["2026-11-01T12:00:00Z", "2026-11-01T13:00:00Z"];
const fromTs = Date.parse(from);
const toTs = Date.parse(to);
const range = ["--from", from, "--to", to];

for (const clickStore of ["clickhouse", "postgres"] as const) {
  describeWith(
    `a replay to an endpoint, out of ${clickStore}`,
    () => openStores(clickStore),
    (stores) => {
      const sluice = (...args: string[]) => runHere(stores().env, ["endpoint", ...args]);
      let slugs = 0;

      /** An endpoint that may be sent to and wants the clicks of a link of its own; these were stored. */
      async function make(...clicks: Partial<ClickEvent>[]) {
        slugs += 1;
        const slug = `link-${slugs}`;
        const link = await runHere(stores().env, [
          "link",
          "create",
          "https://example.com/",
          "--slug",
          slug,
          "--json",
        ]);
        const { id: link_id, workspaceId: workspace_id } = Link.parse(JSON.parse(link.out.join("")));
        const edge_run = uuidv7(fromTs);
        const events = clicks.map((fields, index) =>
          sampleClick({
            edge_run,
            edge_seq: index + 1,
            event_id: uuidv7(fromTs),
            ts: fromTs + index,
            workspace_id,
            link_id,
            ...fields,
          }),
        );
        await storeClicks(stores().clicksUrl, events);
        await using _ = await playDispatcher(stores().url, delivered);
        const { out } = await sluice("create", "https://customer.example/", "--link", slug);
        return { id: `ep_${Number(out[0]?.slice(3))}` as const, slug, workspace_id, link_id, events };
      }

      async function waiting(id: TargetId) {
        const options = { now: Date.now(), leaseUntil: Date.now() - 1 };
        const claimed = await stores().deliveries.claim([{ target: id, count: 9_999 }], options);
        return claimed
          .map(({ event, made, replayed }) => ({ ...event, made, replayed }))
          .toSorted((a, b) => a.ts - b.ts);
      }

      test("every click that it wants is due again, whole, under its own id, and what is there is not doubled", async () => {
        const unwanted = [{ bot: 1 }, { gpc: true }, { ts: fromTs - 1 }, { ts: toTs }];
        const { id, link_id, events } = await make({}, { visitor: "" }, ...unwanted);
        expect((await sluice("replay", id, ...range, "--dry-run")).out).toEqual([
          "2 clicks would be due again",
        ]);
        expect(await waiting(id)).toEqual([]);
        for (const _ of ["first", "again"]) {
          const replayed = await sluice("replay", id, ...range);
          expect(replayed).toEqual({ code: 0, out: ["2 clicks are due again"], err: "" });
        }
        const found = await waiting(id);
        expect(found.map((row) => row.id)).toEqual(events.slice(0, 2).map(({ event_id }) => event_id));
        expect(found[0]).toMatchObject({ type: "link.clicked", linkId: link_id, made: 0, replayed: true });
        expect(found[1]?.visitor).toBeUndefined();
        const [body = ""] = found.map((row) => row.body);
        expect(decodeEnriched(body)).toMatchObject({ kind: "enriched-click", event: events[0] });
      });

      test("of several links, over many pages, none is left out", async () => {
        const { id, slug, events } = await make(...Array.from({ length: 1_700 }, () => ({})));
        const other = await make(...Array.from({ length: 1_300 }, () => ({})));
        await sluice("edit", id, "--link", slug, "--link", other.slug);
        expect((await sluice("replay", id, ...range)).out).toEqual(["3000 clicks are due again"]);
        const ids = new Set((await waiting(id)).map((row) => row.id));
        expect(ids).toEqual(new Set([...events, ...other.events].map(({ event_id }) => event_id)));
      });

      test("what is dead is due again, alone or with the rest, and nothing of another time", async () => {
        const { id, workspace_id, events } = await make({}, {});
        const deadAt = async (ts: number) => {
          const { deliveries } = stores();
          const body = { type: "link.clicked", workspaceId: workspace_id, ts, body: "{}" } as const;
          const eventId = events.find((event) => event.ts === ts)?.event_id ?? uuidv7(ts);
          const row = { target: id, made: 1, replayed: false, dueAt: ts, lease: "a" };
          await deliveries.park([{ ...row, event: { ...body, id: eventId } }], ts);
          await deliveries.settle(
            [{ target: id, eventId, lease: "a", kind: "dead", made: 1, code: "x" }],
            ts,
          );
          return eventId;
        };
        const dead = [await deadAt(fromTs), await deadAt(toTs - 1)];
        await deadAt(toTs);
        const failed = (...args: string[]) => sluice("replay", id, ...range, "--failed", ...args);
        expect((await failed("--dry-run")).out).toEqual(["2 failed deliveries would be due again"]);
        const said: unknown = JSON.parse((await failed("--dry-run", "--json")).out.join(""));
        expect(said).toEqual({ id, due: 2, leftOut: 0, dryRun: true });
        expect((await failed()).out).toEqual(["2 failed deliveries are due again"]);
        expect((await failed()).out).toEqual(["0 failed deliveries are due again"]);
        expect(new Set((await waiting(id)).map((row) => row.id))).toEqual(new Set(dead));
        const other = await deadAt(fromTs + 1);
        await sluice("replay", id, ...range);
        expect((await waiting(id)).map((row) => row.id)).toContain(other);
      });

      test("what is asked to be erased is left out, though it is stored still", async () => {
        const visitor = "e".repeat(32);
        const { id, workspace_id } = await make({}, { visitor });
        await using erasures = await openErasures(stores().clicksUrl);
        await erasures.add({ workspaceId: workspace_id, visitor, upTo: toTs }, signal);
        expect((await sluice("replay", id, ...range, "--dry-run")).out).toEqual([
          "1 clicks would be due again",
        ]);
      });

      test("nothing is parked for one that is not sent to", async () => {
        const { id } = await make({});
        await sluice("edit", id, "--event", "endpoint.disabled");
        expect((await sluice("replay", id, ...range)).err).toBe(
          `sluice: ${id} takes no clicks: its events are endpoint.disabled`,
        );
        await sluice("disable", id, "--reason", "on holiday");
        const first = `first, sluice endpoint enable ${id}`;
        expect((await sluice("replay", id, ...range)).err).toBe(
          `sluice: ${id} is disabled, on holiday: ${first}`,
        );
        const { out } = await sluice("create", "https://customer.example/", "--no-test");
        const fresh = await sluice("replay", out[0] ?? "", ...range, "--failed");
        expect(fresh.code).toBe(1);
        expect(fresh.err).toContain("is not verified: first, ");
        expect(await waiting(id)).toEqual([]);
      });

      test("a replay waits while too many wait for it, and ends when they never will be sent", async () => {
        const { id } = await make({});
        const park = (count: number) =>
          sql(stores().url, `UPDATE delivery_targets SET parked = ${count} WHERE target = '${id}'`);
        await park(50_000);
        const drained = await runHere(stores().env, ["endpoint", "replay", id, ...range], "", () => park(0));
        expect(drained).toEqual({
          code: 0,
          out: ["1 clicks are due again"],
          err: `50000 wait for ${id}: the rest follows as they are sent`,
        });
        await park(50_000);
        const disable = () => sluice("disable", id);
        const ended = await runHere(stores().env, ["endpoint", "replay", id, ...range], "", disable);
        expect(ended).toMatchObject({ code: 1, out: [] });
        expect(ended.err).toContain("is disabled, ");
        await park(1);
      });

      test("no more are due again in a second than were asked for", async () => {
        const { id } = await make({}, {}, {});
        const startedAt = performance.now();
        expect((await sluice("replay", id, ...range, "--rate", "2")).out).toEqual(["3 clicks are due again"]);
        expect(performance.now() - startedAt).toBeGreaterThan(1_000);
      });
    },
  );
}

const Link = z.object({ id: z.number(), workspaceId: z.number() });
