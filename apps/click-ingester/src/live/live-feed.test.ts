import { createEnricher } from "@sluice/click-event/enrich.ts";
import {
  channelOf,
  leaseChannel,
  LiveMessage,
  watchClicks,
  type Watched,
} from "@sluice/pub-sub/live-feed.ts";
import { openPubSub } from "@sluice/pub-sub/open.ts";
import { type PubSub, PubSubError } from "@sluice/pub-sub/pub-sub.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import { sampleClick } from "../testing/sample-clicks.ts";
import { openLiveFeed } from "./live-feed.ts";
import { liveMetrics } from "./metrics.ts";

const enrich = createEnricher({ cacheSize: 10 });
let lastWorkspace = 0;

/** A feed on a workspace of its own. */
async function openWorld({ leaseMs = 30_000, pubSub }: { leaseMs?: number; pubSub?: PubSub } = {}) {
  await using stack = new AsyncDisposableStack();
  const registry = createMetrics();
  const carrier =
    pubSub ?? stack.use(await openPubSub("memory:", { log: silentLog, metrics: createMetrics() }));
  const feed = stack.use(openLiveFeed({ pubSub: carrier, metrics: liveMetrics(registry), leaseMs }));
  const over = new AbortController();
  const opened = stack.move();
  lastWorkspace += 1;
  const workspaceId = lastWorkspace;
  return {
    feed,
    pubSub: carrier,
    workspaceId,
    metrics: async () => (await registry.render()).body,
    click: (number: number, fields: { link_id?: number; ts?: number } = {}) => {
      const event = sampleClick(1, number, { workspace_id: workspaceId, ts: Date.now(), ...fields });
      feed.offer(event, enrich(event));
    },
    /** The ids of what a watcher has seen so far. */
    watch(linkId?: number) {
      const seen: string[] = [];
      const watched: Watched = { workspaceId, ...(linkId === undefined ? {} : { linkId }) };
      const watching = (async () => {
        for await (const notice of watchClicks(carrier, watched, { signal: over.signal })) {
          if (notice.kind === "clicks") seen.push(...notice.clicks.map(({ event_id }) => event_id));
        }
      })();
      opened.defer(() => watching);
      return seen;
    },
    /** Says that somebody watches the workspace, until that is heard. */
    lease: () =>
      expect.poll(() => say(carrier, workspaceId).then(() => feed.isWatched(workspaceId))).toBe(true),
    async [Symbol.asyncDispose]() {
      over.abort();
      await opened.disposeAsync();
    },
  };
}

function say(pubSub: PubSub, workspaceId: number): Promise<void> {
  return pubSub.publish(leaseChannel, JSON.stringify({ workspaceId }));
}

async function firstMessage(pubSub: PubSub, channel: string): Promise<string> {
  const { signal } = new AbortController();
  for await (const notice of pubSub.subscribe(channel, { signal })) {
    if (notice.kind === "message") return notice.message;
  }
  throw new Error("no message");
}

const idOf = (number: number) => sampleClick(1, number).event_id;

test("a watcher sees the clicks of its link alone, or of all its workspace", async () => {
  await using world = await openWorld();
  const { feed, workspaceId, click } = world;
  const [ofLink, ofWorkspace] = [world.watch(7), world.watch()];
  await expect.poll(async () => await world.metrics()).toContain("live_watched 2");
  click(1, { link_id: 7 });
  click(2, { link_id: 8 });
  await expect.poll(() => ofWorkspace).toEqual([idOf(1), idOf(2)]);
  await expect.poll(() => ofLink).toEqual([idOf(1)]);
  expect(feed.isWatched(workspaceId + 1)).toBe(false);
});

test("nothing is published of what nobody watches, and nothing any more when nobody says so again", async () => {
  await using world = await openWorld({ leaseMs: 200 });
  const { feed, workspaceId, click } = world;
  click(1);
  await world.lease();
  click(2);
  await expect.poll(() => world.metrics()).toContain("live_published_total 1");
  await expect.poll(() => feed.isWatched(workspaceId)).toBe(false);
  click(3);
  expect(await world.metrics()).toContain("live_published_total 1");
});

test("what does not fit into a message is dropped, counted and said", async () => {
  await using world = await openWorld();
  const { workspaceId, click, pubSub } = world;
  const message = firstMessage(pubSub, channelOf({ workspaceId }));
  await world.lease();
  for (let number = 1; number <= 100; number += 1) click(number);
  const text = await message;
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(7_000);
  const { clicks, dropped } = LiveMessage.parse(JSON.parse(text));
  expect(clicks.length).toBeGreaterThan(10);
  expect(clicks.length + dropped).toBe(100);
  expect(await world.metrics()).toContain(`live_dropped_total{reason="too-many"} ${dropped}`);
});

test("a server of messages that never answers, or is not there, costs dropped clicks and nothing else", async () => {
  await using carrier = await openPubSub("memory:", { log: silentLog, metrics: createMetrics() });
  let answer = Promise.withResolvers<void>();
  let published = 0;
  const silent: PubSub = {
    subscribe: carrier.subscribe.bind(carrier),
    async publish(channel, message) {
      if (channel === leaseChannel) return await carrier.publish(channel, message);
      published += 1;
      await answer.promise;
    },
    ping: async () => {},
    async [Symbol.asyncDispose]() {},
  };
  await using world = await openWorld({ pubSub: silent });
  const { click } = world;
  await world.lease();
  click(0);
  await expect.poll(() => published).toBe(1);
  for (let number = 1; number <= 100_000; number += 1) click(number);
  expect(published).toBe(1);
  answer.reject(new PubSubError("unavailable", "away"));
  answer = Promise.withResolvers();
  await expect.poll(() => world.metrics()).toContain('live_dropped_total{reason="unavailable"} 1');
  await expect.poll(() => published).toBe(2);
  answer.resolve();
});

test("a backlog that is caught up with is no live feed", async () => {
  await using world = await openWorld();
  const seen = world.watch();
  await expect.poll(() => world.feed.isWatched(world.workspaceId)).toBe(true);
  world.click(1, { ts: Date.now() - 61_000 });
  world.click(2);
  await expect.poll(() => seen).toEqual([idOf(2)]);
  expect(await world.metrics()).toContain('live_dropped_total{reason="late"} 1');
});
