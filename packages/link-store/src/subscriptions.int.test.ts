import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeEach, expect, test } from "vitest";
import { sql } from "./testing/raw-postgres.ts";
import { openTestStore } from "./testing/store.ts";

describeWith(
  "subscriptions to clicks",
  () => openTestStore(silentLog),
  (opened) => {
    const run = (text: string) => sql(opened().url, text);

    beforeEach(() => run("DELETE FROM webhook_endpoints; DELETE FROM integrations; DELETE FROM pixels"));

    /** The subjects noted by what is done meanwhile. */
    async function noted(text: string): Promise<(string | null)[]> {
      const { position } = await opened().store.changes(0, 1);
      await run(text);
      const { changes } = await opened().store.changes(position, 100);
      return changes.map(({ subject }) => subject);
    }

    test("are endpoints, integrations and pixels that want clicks, are verified and not disabled", async () => {
      await run(`
      INSERT INTO webhook_endpoints (workspace_id, url, link_ids, include_bots, verified_at)
        VALUES (1, 'https://a.example/', NULL, false, now()), (2, 'https://b.example/', '{7,8}', true, now());
      INSERT INTO webhook_endpoints (workspace_id, url, disabled_at, verified_at) VALUES (1, 'https://c.example/', now(), now());
      INSERT INTO webhook_endpoints (workspace_id, url, event_types, verified_at)
        VALUES (1, 'https://d.example/', '{endpoint.disabled}', now());
      INSERT INTO webhook_endpoints (workspace_id, url) VALUES (1, 'https://e.example/');
      INSERT INTO integrations (workspace_id, kind, include_opted_out, verified_at) VALUES (2, 'ga4', true, now());
      INSERT INTO integrations (workspace_id, kind) VALUES (1, 'meta');
      INSERT INTO pixels (workspace_id, url, link_ids, verified_at)
        VALUES (1, 'https://p.example/', '{9}', now()), (1, 'https://q.example/', '{10}', NULL)`);
      const defaults = { includeBots: false, includeOptedOut: false };
      expect(await opened().store.clickSubscriptions()).toEqual([
        { ...defaults, workspaceId: 1 },
        { ...defaults, workspaceId: 2, linkIds: [7, 8], includeBots: true },
        { ...defaults, workspaceId: 2, includeOptedOut: true },
        { ...defaults, workspaceId: 1, linkIds: [9] },
      ]);
    });

    test("another URL has to be verified anew, whoever writes it", async () => {
      await run(
        "INSERT INTO webhook_endpoints (workspace_id, url, verified_at) VALUES (1, 'https://a.example/', now())",
      );
      await run("UPDATE webhook_endpoints SET url = 'https://a.example/', description = 'same'");
      expect(await opened().store.clickSubscriptions()).toHaveLength(1);
      await run("UPDATE webhook_endpoints SET url = 'https://b.example/'");
      expect(await opened().store.clickSubscriptions()).toEqual([]);
    });

    test("are all there when there are more than a page of them", async () => {
      await run(`
      INSERT INTO integrations (workspace_id, kind, link_ids, verified_at)
        SELECT 1, 'meta', ARRAY[number], now() FROM generate_series(1, 10001) AS number`);
      const found = await opened().store.clickSubscriptions();
      expect(new Set(found.flatMap(({ linkIds = [] }) => linkIds)).size).toBe(10_001);
    });

    test("are noted as changed once for each transaction, whoever writes and however many", async () => {
      const many = `INSERT INTO webhook_endpoints (workspace_id, url)
      SELECT 1, 'https://a.example/' || number FROM generate_series(1, 50) AS number`;
      expect(await noted(many)).toEqual(["subscriptions"]);
      expect(await noted("UPDATE webhook_endpoints SET disabled_at = now()")).toEqual(["subscriptions"]);
      expect(await noted("INSERT INTO integrations (workspace_id, kind) VALUES (1, 'ga4')")).toEqual([
        "subscriptions",
      ]);
      expect(await noted("DELETE FROM integrations")).toEqual(["subscriptions"]);
      expect(await noted("INSERT INTO pixels (workspace_id, url) VALUES (1, 'https://p.example/')")).toEqual([
        "subscriptions",
      ]);
      expect(await noted("DELETE FROM pixels")).toEqual(["subscriptions"]);
      expect(await noted("TRUNCATE webhook_endpoints")).toEqual([null]);
    });
  },
);
