import { openErasures } from "@sluice/click-store/erasures.ts";
import { openRunChecks } from "@sluice/click-store/run-checks.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { openWhenReachable } from "@sluice/service/retry.ts";
import { runService } from "@sluice/service/run-service.ts";
import { Config } from "./config.ts";
import { keepHeapSmall } from "@sluice/service/heap.ts";
import { keepErased } from "./erasure/erase.ts";
import { createKnownErasures } from "./erasure/known-erasures.ts";
import { fanOutClicks } from "./fan-out/fan-out-clicks.ts";
import { keepRollup } from "./rollup/keep-rollup.ts";
import { reconcile } from "./reconcile/reconcile.ts";
import { storeClicks } from "./store/store-clicks.ts";

// With 65 a catch-up makes a quarter fewer full collections than with 50, and has 10 MB more resident.
keepHeapSmall(65);
await runService("click-ingester", Config, async (service) => {
  const { config, log, metrics, health, resources } = service;
  const events = resources.use(
    await openWhenReachable("event-log", () => openEventLog(config.EVENT_LOG_URL, { log, metrics }), service),
  );
  health.check("event-log", () => events.ping());
  const checks = resources.use(await openRunChecks(config.CLICK_STORE_URL));
  const erasures = resources.use(await openErasures(config.CLICK_STORE_URL));
  const erased = createKnownErasures(erasures, service.signal);
  // None waits for another, nor for what another needs.
  await Promise.all([
    storeClicks(service, events, { checks, erasures, erased }),
    fanOutClicks(service, events, erased),
    keepRollup(service),
    reconcile(service, checks),
    keepErased(service, erasures),
  ]);
});
