import cluster from "node:cluster";
import { once } from "node:events";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

import type { LinkStore } from "@sluice/link-store/link-store.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { visitorSaltInRedis } from "@sluice/link-store/salt-redis.ts";
import { openWhenReachable } from "@sluice/service/retry.ts";
import { runService, type Service } from "@sluice/service/run-service.ts";

import { type Auditing, openAuditing } from "./audit/open-auditing.ts";
import { type Capture, noCapture, openCapture } from "./capture/capture.ts";
import { captureMetrics } from "./capture/metrics.ts";
import { openVisitors } from "./capture/open-visitors.ts";
import { believeProxies, type ClientAddress, peerAddress } from "./client/client-address.ts";
import { Config } from "./config.ts";
import { createAdmission } from "./guard/admission.ts";
import { createRateLimit } from "./guard/rate-limit.ts";
import { openHotLinks } from "./hot-links.ts";
import { openLinks } from "./open-links.ts";
import { type Journal, openRun, prepareJournal, shipperGroup } from "./journal.ts";
import { isSupervisor, sayReady, superviseWorkers } from "./workers.ts";
import { type ShipperOptions, startShipper } from "./shipper/shipper.ts";
import { createHandler } from "./server/handle.ts";
import { serverMetrics } from "./server/metrics.ts";
import { openRules } from "./server/open-rules.ts";
import { openRedirectServer } from "./server/redirect-server.ts";

// Each click becomes some 700 bytes, cut from a pool of 8 KB by default: so small that making pools would cost more than
// the bytes.
Buffer.poolSize = 256 * 1024;
// A visit runs through many small functions, most of them Node's: with twice the usual room to inline them its own thread
// takes 5 % less CPU.
setFlagsFromString("--max-inlined-bytecode-size-cumulative=2000");

await runService("edge-redirect", Config, async (service) => {
  const { config, resources } = service;
  const { auditor, journal } = await openAuditing(service, await prepareJournal(config));
  // Of all the processes on a journal one ships it.
  if (journal.shipped && !cluster.isWorker) resources.use(startShipper(shipperOptions(service, journal)));
  if (isSupervisor(config.EDGE_WORKERS)) await superviseWorkers(service);
  else await redirect(service, { journal, auditor });
});

/** Answers visitors until told to stop. */
async function redirect(service: Service<Config>, auditing: Auditing): Promise<void> {
  const { config, log, metrics, health, resources, signal } = service;
  const { journal } = auditing;
  const beside = (name: string) => join(journal.settings.dir, name);

  const store = resources.use(openLinkStore(config.DATABASE_URL, { log }));
  const { links, changes, redis } = await openLinks(service, store);
  const hotLinks = resources.use(
    await openHotLinks({
      path: beside("hot-links.ndjson"),
      count: config.HOT_LINKS,
      everyMs: config.HOT_LINKS_EVERY_MS,
      links,
      log,
    }),
  );
  const rules = await openRules(service, { dir: journal.settings.dir, store, changes, redis });
  const addressOf = createAddressOf(config);
  const capture =
    config.CAPTURE === "off"
      ? noCapture
      : resources.use(await openCaptureOf(service, { ...auditing, store, addressOf }));
  const forVisitors = serverMetrics(metrics);
  const { TRUSTED_PROXIES: isTrusted = () => false } = config;
  const { port } = resources.use(
    await openRedirectServer({
      host: config.HOST,
      port: config.PORT,
      connections: { max: config.EDGE_MAX_CONNECTIONS, isTrusted },
      idleMs: config.EDGE_IDLE_MS,
      proxies: config.PROXY_PROTOCOL === "on" ? config.TRUSTED_PROXIES : undefined,
      noticeMs: config.DRAIN_NOTICE_MS,
      metrics: forVisitors,
      admit: createAdmission({
        addressOf,
        isTrusted,
        limit: createRateLimit({ perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST }),
      }),
      handler: createHandler({
        ...rules,
        links,
        capture,
        addressOf,
        metrics: forVisitors,
        log,
        now: Date.now,
        preparedBytes: config.EDGE_CACHE_BYTES / 4,
      }),
    }),
  );
  log.info({ port }, "listening for visitors");

  health.check("postgres", () => store.ping(), { required: false });
  // Without one link in memory there is nothing to redirect to.
  if (hotLinks.found === 0) await openWhenReachable("postgres", () => store.ping(), { health, signal });
  health.ready();
  sayReady(service.opsPort);
  await aborted(signal);
}

function createAddressOf({
  TRUSTED_PROXIES: isTrusted,
  CLIENT_ADDRESS_HEADER: header,
}: Config): ClientAddress {
  return isTrusted === undefined ? peerAddress : believeProxies(isTrusted, header);
}

async function openCaptureOf(
  service: Service<Config>,
  { journal, auditor, store, addressOf }: Auditing & { store: LinkStore; addressOf: ClientAddress },
): Promise<Capture & AsyncDisposable> {
  const { config, log, metrics, health } = service;
  const sharedSalt =
    config.REDIS_URL === undefined
      ? (day: number, fresh: Uint8Array) => store.visitorSalt(day, fresh)
      : visitorSaltInRedis(config.REDIS_URL);
  return openCapture({
    edge: config.EDGE_NAME,
    openJournal: (run) => openRun(journal, run, { log, metrics }),
    addressOf,
    ...(await openVisitors(service, { dir: journal.settings.dir, sharedSalt })),
    auditor,
    metrics: captureMetrics(metrics),
    health,
    log,
    now: Date.now,
  });
}

function shipperOptions(service: Service<Config>, { url, settings, topic }: Journal): ShipperOptions {
  const { config, health, log, metrics } = service;
  return {
    task: {
      journalUrl: url,
      eventLogUrl: config.EVENT_LOG_URL,
      topic,
      group: shipperGroup,
      setAsidePath: join(settings.dir, "set-aside.ndjson"),
      logLevel: config.LOG_LEVEL,
    },
    drainMs: config.SHIP_DRAIN_MS,
    health,
    log,
    metrics,
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
