import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { encodeClick } from "@sluice/click-event/encode.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import { openAuditStore } from "@sluice/link-store/open-audit.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { sql } from "@sluice/link-store/testing/raw-postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";

import { run } from "../testing/run.ts";

const ts = Date.parse("2026-11-01T12:00:00Z");
const alice = "a".repeat(32);

describeWith("clicks are erased from the command line", testPostgres, (postgres) => {
  const env = () => ({ DATABASE_URL: postgres().url, CLICK_STORE_URL: postgres().url });
  const sluice = (...args: string[]) => run(env(), args);
  const err = async (...args: string[]) => (await sluice(...args)).err;

  /** Six clicks of one run: the first four of the link, in turns Alice's and nobody's; all of them are audited. */
  beforeAll(async () => {
    const deps = { log: silentLog, metrics: createMetrics() };
    await sluice("migrate");
    await sluice("link", "create", "https://example.com/", "--slug", "demo");
    await sluice("audit", "set", "default", "redirect");
    await using links = openLinkStore(postgres().url, deps);
    const { workspaceId = 0, id = 0 } = (await links.resolve("localhost", "demo")) ?? {};
    await using clicks = await openClickStore(postgres().url, deps);
    await using audit = openAuditStore(postgres().url, deps);
    const enrich = createEnricher({ cacheSize: 10 });
    const edge_run = uuidv7(ts);
    const events = [1, 2, 3, 4, 5, 6].map((edge_seq) =>
      sampleClick({
        edge_run,
        edge_seq,
        event_id: uuidv7(ts),
        ts: ts + edge_seq,
        workspace_id: workspaceId,
        link_id: edge_seq < 5 ? id : id + 1,
        visitor: edge_seq % 2 === 1 ? alice : "",
      }),
    );
    const rows = events.map((event) => clicks.encodeClick(event, enrich(event)));
    await clicks.insertClicks(rows, { signal: new AbortController().signal, onTrouble: () => {} });
    await using deliveries = openDeliveryStore(postgres().url, { log: silentLog });
    await sql(
      postgres().url,
      `INSERT INTO webhook_endpoints (workspace_id, url) VALUES (${workspaceId}, 'https://a.example/')`,
    );
    const waiting = events.slice(0, 4).map(({ event_id, visitor, link_id, ...event }) => ({
      target: "ep_1" as const,
      event: {
        id: event_id,
        type: "link.clicked" as const,
        workspaceId,
        ts: event.ts,
        linkId: link_id,
        visitor,
        body: "{}",
      },
      made: 1,
      replayed: false,
      dueAt: ts,
    }));
    await deliveries.park(waiting, Date.now());
    for (const event of events)
      await audit.record({
        eventId: event.event_id,
        ts: event.ts,
        workspaceId,
        linkId: event.link_id,
        event: Buffer.from(encodeClick(event)).toString(),
      });
  });

  const reconciled = () => sluice("reconcile", "--from", "2026-11-01", "--to", "2026-11-02");

  test("by visitor, by link and by age, as often as one likes, and what proves clicks is not missed", async () => {
    expect((await reconciled()).err).toContain("6 audit rows, 0 not in the table");
    const visitor = ["erase", "visitor", alice, "--workspace", "default", "--no-wait"];
    expect((await sluice(...visitor, "--dry-run")).out).toEqual([
      "3 clicks, 0 dead letters and 2 clicks that wait for delivery would be erased",
    ]);
    const first = await sluice(...visitor);
    expect(first).toMatchObject({
      code: 0,
      out: ["3 clicks, 0 dead letters and 2 clicks that wait for delivery erased"],
    });
    expect(first.err).toContain("its rows in click_audit stay");
    expect((await sluice(...visitor)).out).toEqual([
      "0 clicks, 0 dead letters and 0 clicks that wait for delivery erased",
    ]);
    const link = ["erase", "link", "demo", "--before", "2026-11-01T12:00:00.003Z", "--no-wait"];
    expect((await sluice(...link)).out).toEqual([
      "1 clicks, 0 dead letters and 1 clicks that wait for delivery erased",
    ]);
    expect(await reconciled()).toMatchObject({
      code: 0,
      err: "2 audit rows, 0 not in the table; 2 audited clicks in the table, 0 without a row; 0 gaps in the numbers",
    });
    expect((await sluice("erase", "workspace", "default", "--no-wait")).out).toEqual([
      "2 clicks, 0 dead letters and 1 clicks that wait for delivery erased",
    ]);
  });

  test("and what cannot be is said", async () => {
    expect(await err("erase", "link", "nobody")).toBe("sluice: there is no link localhost/nobody");
    expect(await err("erase", "workspace", "nobody")).toBe("sluice: there is no workspace nobody");
    expect(await err("erase", "visitor", "alice", "--workspace", "default")).toContain("hexadecimal");
  });

  test("retention is set and said by workspace", async () => {
    expect((await sluice("retention", "default")).out).toEqual(["default: forever"]);
    expect((await sluice("retention", "default", "30")).out).toEqual(["default: 30 days"]);
    expect((await sluice("retention", "default", "forever")).out).toEqual(["default: forever"]);
    expect((await sluice("retention", "default", "soon")).code).not.toBe(0);
  });
});
