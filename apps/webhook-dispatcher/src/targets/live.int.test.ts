import { followChanges } from "@sluice/link-store/change-feed.ts";
import type { NewTarget } from "@sluice/link-store/targets/target-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { openTargetWorld } from "@sluice/link-store/testing/target-world.ts";
import { sql } from "@sluice/link-store/testing/raw-postgres.ts";
import { createRing } from "@sluice/link-store/testing/ring.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { createChannels } from "../channels/channels.ts";
import { followTargets } from "./known-targets.ts";
import { targetMetrics } from "./metrics.ts";

/** Far less than what is read by time alone takes, and more than a busy machine needs. */
const patience = { timeout: 10_000, interval: 10 };

const kinds: readonly { target: NewTarget; table: string }[] = [
  { target: { kind: "webhook", url: "https://a.example/" }, table: "webhook_endpoints" },
  { target: { kind: "pixel", url: "https://a.example/" }, table: "pixels" },
  {
    target: {
      kind: "ga4",
      settings: { measurement_id: "G-ABC1234567", api_secret: "secret-secret-12345678" },
    },
    table: "integrations",
  },
];

describeWith("the dispatcher's targets", openTargetWorld, (world) => {
  // What a change takes to be seen is a question every 300 ms, a pause of 250, and one reading.
  for (const { target, table } of kinds)
    test(`of kind ${target.kind}: made, edited, disabled or deleted, they are known to be so without a bell and before they are read by time`, async () => {
      const { targets, links, url } = world();
      const deps = { log: silentLog, metrics: createMetrics() };
      const stop = new AbortController();
      await using changes = followChanges({ store: links, bell: createRing(), ...deps });
      await using known = followTargets({
        list: () => targets.sendable(Date.now()),
        channels: createChannels(),
        own: [],
        changes,
        health: { degraded() {} },
        metrics: targetMetrics(deps.metrics),
        log: silentLog,
        signal: stop.signal,
        everyMs: 3_600_000,
      });
      await known.read;
      const shown = (id: TargetId) => known.of(id)?.target.filter.includeBots;
      const { id } = await targets.create(1, target, Date.now());
      await sql(url, `UPDATE ${table} SET verified_at = now()`);
      await expect.poll(() => shown(id), patience).toBe(false);
      await targets.edit(id, { filter: { includeBots: true } }, Date.now());
      await expect.poll(() => shown(id), patience).toBe(true);
      await targets.disable(id, "a test", Date.now());
      await expect.poll(() => known.of(id), patience).toBeUndefined();
      await sql(url, `UPDATE ${table} SET disabled_at = NULL, disabled_reason = NULL`);
      await expect.poll(() => shown(id), patience).toBe(true);
      await targets.delete(id);
      await expect.poll(() => known.of(id), patience).toBeUndefined();
      stop.abort();
    });
});
