import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { openTcpProxy, type TcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, it } from "vitest";

import { metric } from "./testing/ops.ts";
import { type SteadyLoad, startSteadyLoad } from "./testing/steady-load.ts";
import { openJournal, openWorld, type World } from "./testing/world.ts";

/** In sum at both edges. */
const wantedPerSecond = 10_000;
/** What a machine must give that has two cores for the edges, Postgres, Redis and the visitors. */
const leastPerSecond = 2_000;
const forMs = 4_000;

interface Trial extends AsyncDisposable {
  readonly loads: readonly SteadyLoad[];
  /** Edits the link again and again for some seconds; the stale windows in ms, by edge, and the rate meanwhile. */
  edit(before?: (n: number) => void): Promise<{ windows: number[][]; perSecond: number }>;
  /** Of both edges. */
  metrics(series: string): Promise<number[]>;
}

/** Two edges whose visitors all want one link. */
async function openTrial(world: World, slug: string, env: Record<string, string>): Promise<Trial> {
  await using stack = new AsyncDisposableStack();
  await world.link(slug, { destination: place(slug, 0) });
  const edges = await Promise.all(
    [1, 2].map(async () => {
      const journal = stack.use(await openJournal(world.postgres.url));
      return stack.use(await journal.start({ env: { RATE_LIMIT_PER_SECOND: "0", ...env } }));
    }),
  );
  const loads = await Promise.all(
    edges.map(async ({ port }) => stack.use(await startSteadyLoad(port, `/${slug}`, wantedPerSecond / 2))),
  );
  await Promise.all(loads.map((load) => load.sentTo(place(slug, 0))));
  const opened = stack.move();
  let edits = 0;
  return {
    loads,
    metrics: (series) => Promise.all(edges.map((edge) => metric(edge, series))),
    async edit(before = () => {}) {
      const startedAt = performance.now();
      const redirected = () => loads.reduce((sum, load) => sum + load.redirected(), 0);
      const atStart = redirected();
      const editedAt = new Map<string, number>();
      while (performance.now() < startedAt + forMs) {
        before(edits);
        editedAt.set(place(slug, edits), performance.now());
        edits += 1;
        await world.store.update("go.example.com", slug, { destination: place(slug, edits) });
        await Promise.all(loads.map((load) => load.sentTo(place(slug, edits))));
      }
      const perSecond = ((redirected() - atStart) * 1_000) / (performance.now() - startedAt);
      return { windows: loads.map((load) => windowsOf(load, editedAt)), perSecond };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const place = (slug: string, edits: number) => `https://example.com/${slug}/${edits}`;

/** From just before each edit until a visitor was last sent where the link led until then. */
function windowsOf(load: SteadyLoad, editedAt: ReadonlyMap<string, number>): number[] {
  return [...editedAt].map(([location, at]) => Math.max(0, (load.lastSentTo.get(location) ?? 0) - at));
}

async function expectSeenWithinASecond(trial: Trial, before?: (n: number) => void): Promise<void> {
  const { windows, perSecond } = await trial.edit(before);
  const summary = windows.map((each) => ({ edits: each.length, longestMs: Math.round(Math.max(...each)) }));
  process.stdout.write(`${Math.round(perSecond)} req/s; ${JSON.stringify(summary)}\n`);
  expect(perSecond).toBeGreaterThan(leastPerSecond);
  for (const each of windows) expect(Math.max(...each)).toBeLessThanOrEqual(1_000);
  for (const load of trial.loads) expect([...load.others]).toEqual([]);
}

describeWith("a link that is edited while two edges serve it to thousands a second", openWorld, (world) => {
  it("leads every visitor to its new place within a second, without Redis", async () => {
    await using trial = await openTrial(world(), "plain", {});
    await expectSeenWithinASecond(trial);
    for (const rings of await trial.metrics('link_change_rings_total{kind="message"}')) {
      expect(rings).toBeGreaterThan(10);
    }
  });

  it("does so though the connection for notices is cut at each edit, and silent later on", async () => {
    await using proxy = await openTcpProxy(world().postgres.url);
    await using trial = await openTrial(world(), "unheard", { DATABASE_DIRECT_URL: proxy.url });
    await expectSeenWithinASecond(trial, () => proxy.cut());
    for (const gaps of await trial.metrics('link_change_rings_total{kind="gap"}')) {
      expect(gaps).toBeGreaterThan(3);
    }
    proxy.hang();
    await expectSeenWithinASecond(trial);
    proxy.flow();
  });

  it("stays disabled for every visitor from a second later on, and comes back within one", async () => {
    await using trial = await openTrial(world(), "onoff", {});
    const disabledAt = performance.now();
    await world().store.disable("go.example.com", "onoff");
    await expect.poll(() => trial.loads.every(({ others }) => others.has("410")), { interval: 5 }).toBe(true);
    expect(performance.now() - disabledAt).toBeLessThan(1_000);
    await world().store.update("go.example.com", "onoff", { destination: place("onoff", 1) });
    await world().store.enable("go.example.com", "onoff");
    const enabledAt = performance.now();
    await Promise.all(trial.loads.map((load) => load.sentTo(place("onoff", 1))));
    expect(performance.now() - enabledAt).toBeLessThan(1_000);
    for (const { lastSentTo } of trial.loads) {
      expect(lastSentTo.get(place("onoff", 0))).toBeLessThan(disabledAt + 1_000);
    }
  });
});

describeWith("the same with a Redis", openWorldWithRedis, (opened) => {
  it("leads every visitor to its new place within a second", async () => {
    const { world, redis } = opened();
    await using trial = await openTrial(world, "shared", { REDIS_URL: redis.url });
    await expectSeenWithinASecond(trial);
    expect(await trial.metrics('link_level_open{level="redis"}')).toEqual([1, 1]);
  });

  it("does so also when Redis is cut off, falls silent and comes back", async () => {
    const { world, proxy } = opened();
    await using trial = await openTrial(world, "lost", { REDIS_URL: proxy.url });
    await expectSeenWithinASecond(trial, (n) => {
      if (n % 10 === 0) proxy.cut();
    });
    proxy.hang();
    await expectSeenWithinASecond(trial);
    expect(await trial.metrics('link_level_open{level="redis"}')).toEqual([0, 0]);
    proxy.flow();
    await expectSeenWithinASecond(trial);
  });
});

async function openWorldWithRedis(): Promise<
  AsyncDisposable & { world: World; redis: { url: string }; proxy: TcpProxy }
> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await testRedis());
  const proxy = stack.use(await openTcpProxy(redis.url));
  const world = stack.use(await openWorld());
  const all = stack.move();
  return { world, redis, proxy, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
