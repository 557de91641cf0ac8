import { followChanges } from "@sluice/link-store/change-feed.ts";
import type { NewTarget } from "@sluice/link-store/targets/target-store.ts";
import { openTargetWorld } from "@sluice/link-store/testing/target-world.ts";
import { createRing } from "@sluice/link-store/testing/ring.ts";
import { sql } from "@sluice/link-store/testing/raw-postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { isWanted } from "./interests.ts";
import { fanOutMetrics } from "./metrics.ts";
import { followSubscriptions } from "./subscriptions.ts";

/** Far less than what is read by time alone takes, and more than a busy machine needs. */
const patience = { timeout: 10_000, interval: 10 };

const kinds: readonly { target: NewTarget; table: string }[] = [
  { target: { kind: "webhook", url: "https://a.example/" }, table: "webhook_endpoints" },
  { target: { kind: "pixel", url: "https://a.example/" }, table: "pixels" },
  { target: { kind: "klaviyo", settings: { api_key: "pk_test" } }, table: "integrations" },
];

describeWith("the ingester's index", openTargetWorld, (world) => {
  // What a change takes to be seen is a question every 300 ms, a pause of 250, and one reading.
  for (const { target, table } of kinds)
    test(`has what a ${target.kind} wants once it is made, edited, disabled or deleted, without a bell and before it is read by time`, async () => {
      const { targets, links, url } = world();
      const metrics = createMetrics();
      const stop = new AbortController();
      await using changes = followChanges({ store: links, bell: createRing(), log: silentLog, metrics });
      await using index = followSubscriptions({
        store: links,
        changes,
        health: { degraded() {} },
        metrics: fanOutMetrics(metrics),
        signal: stop.signal,
        everyMs: 3_600_000,
      });
      await index.read;
      /** A person's click, and one that is not a person's. */
      const wanted = () =>
        [false, true].map((is_bot) => isWanted(index.of(1) ?? [], { link_id: 7, gpc: false }, { is_bot }));
      const { id } = await targets.create(1, target, Date.now());
      await sql(url, `UPDATE ${table} SET verified_at = now()`);
      await expect.poll(wanted, patience).toEqual([true, false]);
      await targets.edit(id, { filter: { includeBots: true } }, Date.now());
      await expect.poll(wanted, patience).toEqual([true, true]);
      await targets.disable(id, "a test", Date.now());
      await expect.poll(wanted, patience).toEqual([false, false]);
      await sql(url, `UPDATE ${table} SET disabled_at = NULL, disabled_reason = NULL`);
      await expect.poll(wanted, patience).toEqual([true, true]);
      await targets.delete(id);
      await expect.poll(wanted, patience).toEqual([false, false]);
      stop.abort();
    });
});
