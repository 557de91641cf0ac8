import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import {
  channelOf,
  leaseChannel,
  leaseMs as defaultLeaseMs,
  type LiveClick,
  parse,
  Watched,
} from "@sluice/pub-sub/live-feed.ts";
import type { PubSub } from "@sluice/pub-sub/pub-sub.ts";
import type { LiveClicks } from "../fan-out/match.ts";
import type { LiveMetrics } from "./metrics.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

export interface LiveFeedOptions {
  readonly pubSub: PubSub;
  readonly metrics: LiveMetrics;
  readonly leaseMs?: number;
}

/** Each holds one message of up to 7,000 bytes, and one under way: 14 MB at the very most. */
const maxWatches = 1_000;
/** An older click comes from a backlog that is being caught up with. */
const liveMs = 60_000;
/** Soon enough to be live; of each channel five messages a second, because Postgres lets notifying commits wait for each other. */
const flushEveryMs = 200;
const sweepEveryMs = 1_000;

interface Watch {
  readonly watched: Watched;
  readonly outbox: Outbox;
  until: number;
}

/** Publishes the clicks that somebody watches. Nothing waits for it: what cannot be published soon is dropped and counted. */
export function openLiveFeed(options: LiveFeedOptions): LiveClicks & AsyncDisposable {
  const { pubSub, metrics, leaseMs = defaultLeaseMs } = options;
  const watches = new Map<string, Watch>();
  let byWorkspace: ReadonlyMap<number, readonly Watch[]> = new Map();
  const stopped = new AbortController();

  function watch(watched: Watched): void {
    const channel = channelOf(watched);
    const until = performance.now() + leaseMs;
    const known = watches.get(channel);
    if (known !== undefined) {
      known.until = until;
    } else if (watches.size >= maxWatches) {
      metrics.refused.inc();
    } else {
      const publish = (message: string) => pubSub.publish(channel, message);
      watches.set(channel, { watched, until, outbox: createOutbox(publish, metrics) });
      index();
    }
  }

  function sweep(): void {
    const [before, now] = [watches.size, performance.now()];
    for (const [channel, { until }] of watches) if (until < now) watches.delete(channel);
    if (watches.size < before) index();
  }

  function index(): void {
    byWorkspace = Map.groupBy(watches.values(), ({ watched }) => watched.workspaceId);
    metrics.watched.set(watches.size);
  }

  async function listen(): Promise<void> {
    for await (const notice of pubSub.subscribe(leaseChannel, { signal: stopped.signal })) {
      const watched = notice.kind === "message" ? parse(Watched, notice.message) : undefined;
      if (watched !== undefined) watch(watched);
    }
  }

  const listening = listen();
  const timers = [
    setInterval(sweep, sweepEveryMs).unref(),
    setInterval(() => watches.forEach(({ outbox }) => outbox.flush()), flushEveryMs).unref(),
  ];
  return {
    isWatched: (workspaceId) => byWorkspace.has(workspaceId),
    offer(event, enrichment) {
      const wanted = (byWorkspace.get(event.workspace_id) ?? []).filter(
        ({ watched: { linkId } }) => linkId === undefined || linkId === event.link_id,
      );
      if (wanted.length === 0) return;
      if (Date.now() - event.ts > liveMs) return metrics.dropped.inc({ reason: "late" });
      const click = JSON.stringify(liveClick(event, enrichment));
      for (const { outbox } of wanted) outbox.add(click);
    },
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      await listening;
    },
  };
}

function liveClick(event: ClickEvent, { device, browser, os, is_bot }: Enrichment): LiveClick {
  const { event_id, ts, workspace_id, link_id, domain, slug, country, referrer_domain, qr } = event;
  const ofEvent = { event_id, ts, workspace_id, link_id, domain, slug, country, referrer_domain, qr };
  return { ...ofEvent, device, browser, os, is_bot };
}
