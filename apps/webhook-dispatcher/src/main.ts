import { openAttemptLog } from "@sluice/click-store/attempts.ts";
import { openErasures } from "@sluice/click-store/erasures.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { fanOutLogUrl } from "@sluice/event-log/fan-out-url.ts";
import { followChanges } from "@sluice/link-store/change-feed.ts";
import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { openTargetStore } from "@sluice/link-store/targets/open-targets.ts";
import { openPubSub } from "@sluice/pub-sub/open.ts";
import { keepHeapSmall } from "@sluice/service/heap.ts";
import { runService } from "@sluice/service/run-service.ts";
import { createChannels } from "./channels/channels.ts";
import { Config } from "./config.ts";
import { deliver } from "./deliver.ts";
import { openHttpClient } from "./http/open.ts";

keepHeapSmall();
await runService("webhook-dispatcher", Config, async (service) => {
  const { config, log, metrics, health, resources } = service;
  const { DATABASE_URL, DATABASE_DIRECT_URL = DATABASE_URL } = config;
  const deps = { log, metrics };
  const deliveries = resources.use(
    openDeliveryStore(DATABASE_URL, {
      log,
      limits: { perTarget: config.MAX_PARKED_PER_TARGET, perWorkspace: config.MAX_PARKED_PER_WORKSPACE },
    }),
  );
  const targets = resources.use(openTargetStore(DATABASE_URL, { log, keys: config.SECRET_KEYS }));
  const links = resources.use(openLinkStore(DATABASE_URL, { log }));
  health.check("postgres", () => links.ping());
  const bell = resources.use(await openPubSub(DATABASE_DIRECT_URL, deps));
  const changes = resources.use(followChanges({ store: links, bell, ...deps }));
  const attempts = resources.use(await openAttemptLog(config.CLICK_STORE_URL, deps));
  const erasures = resources.use(await openErasures(config.CLICK_STORE_URL));
  const http = resources.use(
    openHttpClient({
      allowHttp: config.ALLOW_HTTP,
      ports: config.ALLOWED_PORTS,
      userAgent: "Sluice-Webhooks/1",
    }),
  );
  const openEvents = () => openEventLog(fanOutLogUrl(config), deps);
  await deliver(service, {
    openEvents,
    deliveries,
    targets,
    changes,
    channels: createChannels(),
    attempts,
    erasures,
    http,
  });
});
