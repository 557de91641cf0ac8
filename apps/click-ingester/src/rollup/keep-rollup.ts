import { hostname } from "node:os";
import { openRollup } from "@sluice/click-store/rollup.ts";
import type { Service } from "@sluice/service/run-service.ts";
import type { Config } from "../config.ts";
import { countChanges } from "./count-changes.ts";
import { rollupMetrics } from "./metrics.ts";

/** Keeps what statistics have counted ahead in step with the clicks until told to stop; nothing for a store that needs none. */
export async function keepRollup({
  config,
  log,
  metrics,
  resources,
  signal,
}: Service<Config>): Promise<void> {
  const rollup = await openRollup(config.CLICK_STORE_URL);
  if (rollup === undefined) return;
  await countChanges({
    rollup: resources.use(rollup),
    owner: `${hostname()}/${process.pid}`,
    everyMs: config.ROLLUP_INTERVAL_MS,
    metrics: rollupMetrics(metrics),
    log,
    signal,
  });
}
