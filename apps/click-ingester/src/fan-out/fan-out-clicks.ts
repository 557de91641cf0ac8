import { createEnricher } from "@sluice/click-event/enrich.ts";
import type { EventLog } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { persistently } from "@sluice/event-log/persistently.ts";
import { followChanges } from "@sluice/link-store/change-feed.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { openPubSub } from "@sluice/pub-sub/open.ts";
import type { Service } from "@sluice/service/run-service.ts";
import type { Config } from "../config.ts";
import type { KnownErasures } from "../erasure/known-erasures.ts";
import { openLiveFeed } from "../live/live-feed.ts";
import { liveMetrics } from "../live/metrics.ts";
import { fanOut } from "./fan-out.ts";
import { fanOutLogUrl } from "@sluice/event-log/fan-out-url.ts";
import { createMatch } from "./match.ts";
import { fanOutMetrics } from "./metrics.ts";
import { followSubscriptions } from "./subscriptions.ts";

/** One record is enough for a batch, but a busy log gives no more than ten a second, each of which is a commit. */
const want = { minRecords: 500, maxRecords: 5_000, maxBytes: 4 * 2 ** 20, maxWaitMs: 100 };

/** For a notice of changed subscriptions that did not arrive; an edge, where an edit has to be seen within a second, asks oftener. */
const changesEveryMs = 2_000;

/**
 * Passes clicks on to the dispatcher's topic and to the live feed until told to stop; without a Postgres that has the
 * subscriptions it does nothing. Never fails because something outside is away or fails: it says what it does without,
 * and its group of the event log lags.
 */
export async function fanOutClicks(
  service: Service<Config>,
  events: EventLog,
  erased: KnownErasures,
): Promise<void> {
  const { config, log, metrics: registry, health, resources, signal } = service;
  const { DATABASE_URL, DATABASE_DIRECT_URL = DATABASE_URL, FANOUT_TOPIC } = config;
  if (DATABASE_URL === undefined || DATABASE_DIRECT_URL === undefined) return;
  const metrics = fanOutMetrics(registry);
  const deps = { log, metrics: registry };

  const store = resources.use(openLinkStore(DATABASE_URL, { log }));
  health.check("postgres", () => store.ping(), { required: false });
  const bell = resources.use(await openPubSub(DATABASE_DIRECT_URL, deps));
  const changes = resources.use(followChanges({ store, bell, ...deps, everyMs: changesEveryMs }));
  const subscriptions = resources.use(followSubscriptions({ store, changes, health, metrics, signal }));
  const pubSub =
    config.REDIS_URL === undefined ? bell : resources.use(await openPubSub(config.REDIS_URL, deps));
  const live = resources.use(openLiveFeed({ pubSub, metrics: liveMetrics(registry) }));
  const match = createMatch({
    interestOf: (workspaceId) => subscriptions.of(workspaceId),
    // A tenth of what the store loop remembers: most clicks are nobody's here.
    enrich: createEnricher({ cacheSize: 1_000 }),
    erased: () => erased.latest(),
    live,
  });

  const url = fanOutLogUrl(config);
  let target = url === config.EVENT_LOG_URL ? events : undefined;
  async function readOn(): Promise<void> {
    target ??= resources.use(await openEventLog(url, deps));
    const append = target.append.bind(target, FANOUT_TOPIC);
    await using reader = await events.open(config.EVENT_LOG_TOPIC, { group: config.FANOUT_GROUP, signal });
    health.degraded("fan-out", undefined);
    await fanOut({ reader, want, match, append, metrics, health, log, signal });
  }
  await subscriptions.read;
  // So that the store loop beside us goes on.
  await persistently(readOn, { name: "fan-out", failing: "clicks cannot be fanned out", health, signal });
}
