import { setTimeout as delay } from "node:timers/promises";
import { watchClicks } from "@sluice/pub-sub/live-feed.ts";
import { openPubSub } from "@sluice/pub-sub/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import type { AppProcess } from "@sluice/testkit/app-process.ts";
import { beforeEach, expect, test } from "vitest";
import { openJournal, openStores } from "./testing/fan-out-world.ts";
import { startIngester } from "./testing/ingester-process.ts";

const patience = { timeout: 30_000 };
const degraded = async (ingester: AppProcess) => (await ingester.readiness()).body;
const indexed = (ingester: AppProcess, count: number) =>
  expect.poll(() => ingester.metric("fanout_subscriptions"), patience).toBe(count);

describeWith("fan-out", openStores, (stores) => {
  beforeEach(() => stores().unsubscribe());

  test("killed ten times at arbitrary moments while clicks come, it has passed on each of them", async () => {
    await stores().subscribe();
    await using journal = await openJournal();
    const settings = { ...stores().settings, ...journal.settings };
    const wanted: string[] = [];
    const enough = new AbortController();
    async function clicksCome(): Promise<void> {
      while (!enough.signal.aborted) {
        wanted.push(...(await journal.append(20)));
        await delay(15);
      }
    }
    async function kill(): Promise<void> {
      for (let life = 0; life < 10; life += 1) {
        await using ingester = startIngester(settings);
        await indexed(ingester, 1);
        await delay((life * 97) % 400);
        ingester.kill("SIGKILL");
      }
      enough.abort();
    }
    await Promise.all([clicksCome(), kill()]);
    await using _ = startIngester(settings);
    const passedOn = new Set<string>();
    const missing = async () => {
      for (const id of await journal.dispatch()) passedOn.add(id);
      return wanted.filter((id) => !passedOn.has(id)).length;
    };
    await expect.poll(missing, patience).toBe(0);
    expect(passedOn.size).toBe(wanted.length);
  });

  test("with Postgres away at its start it stores, passes nothing by, and then passes all of it on", async () => {
    await stores().subscribe();
    await using journal = await openJournal();
    await using proxy = await openTcpProxy(stores().settings.DATABASE_URL);
    proxy.refuse();
    const wanted = await journal.append(500);
    await using ingester = startIngester({
      ...stores().settings,
      ...journal.settings,
      DATABASE_URL: proxy.url,
    });
    await expect.poll(() => stores().stored(journal), patience).toBe(500);
    expect(await degraded(ingester)).toContain("subscriptions");
    expect(await ingester.metric("fanout_skipped_total")).toBe(0);
    proxy.flow();
    await expect.poll(() => ingester.metric("fanout_appended_total"), patience).toBe(500);
    expect(await journal.dispatch()).toEqual(wanted);

    // And gone again: the subscriptions are used as they were read.
    proxy.refuse();
    const later = await journal.append(10);
    await expect.poll(() => ingester.metric("fanout_appended_total"), patience).toBe(510);
    expect(await journal.dispatch()).toEqual(later);
    await expect.poll(() => degraded(ingester), patience).toContain("postgres");
    expect((await ingester.readiness()).status).toBe(200);
  });

  test("with ClickHouse away it passes clicks on all the same", async () => {
    await stores().subscribe();
    await using journal = await openJournal();
    const wanted = await journal.append(100);
    await using ingester = startIngester({
      ...stores().settings,
      ...journal.settings,
      CLICK_STORE_URL: "http://127.0.0.1:9",
    });
    await expect.poll(() => ingester.metric("fanout_appended_total"), patience).toBe(100);
    expect(await journal.dispatch()).toEqual(wanted);
  });

  test("a subscription counts soon after it was made, and until it was removed, by an ingester that runs on", async () => {
    await using journal = await openJournal();
    await using ingester = startIngester({ ...stores().settings, ...journal.settings });
    await journal.append(1);
    await expect.poll(() => ingester.metric("fanout_skipped_total"), patience).toBe(1);
    await stores().subscribe();
    await indexed(ingester, 1);
    const wanted = await journal.append(1);
    await expect.poll(() => ingester.metric("fanout_appended_total"), patience).toBe(1);
    await stores().unsubscribe();
    await indexed(ingester, 0);
    await journal.append(1);
    await expect.poll(() => ingester.metric("fanout_skipped_total"), patience).toBe(2);
    expect(await journal.dispatch()).toEqual(wanted);
  });

  test("while its topic is full clicks are stored, and once there is room all of them are passed on", async () => {
    await stores().subscribe();
    await using journal = await openJournal({ fanOutBudgetBytes: 400_000 });
    await using ingester = startIngester({ ...stores().settings, ...journal.settings });
    await indexed(ingester, 1);
    const wanted: string[] = [];
    for (let batch = 0; batch < 10; batch += 1) wanted.push(...(await journal.append(100)));
    await expect.poll(() => stores().stored(journal), patience).toBe(1_000);
    await expect.poll(() => ingester.metric("fanout_append_failures_total"), patience).toBeGreaterThan(0);
    expect(await degraded(ingester)).toContain("fan-out");
    expect((await ingester.readiness()).status).toBe(200);
    const passedOn = new Set<string>();
    const missing = async () => {
      for (const id of await journal.dispatch()) passedOn.add(id);
      return wanted.filter((id) => !passedOn.has(id)).length;
    };
    await expect.poll(missing, { timeout: 60_000 }).toBe(0);
    await expect.poll(() => degraded(ingester), patience).not.toContain("fan-out");
  });

  test("the live feed goes by Postgres where there is no Redis", async () => {
    await using journal = await openJournal();
    await using ingester = startIngester({ ...stores().settings, ...journal.settings });
    await indexed(ingester, 0);
    expect(await seenOf(stores().settings.DATABASE_URL, journal, ingester)).toBe(true);
  });

  test("a Redis that is killed ends the live feed alone, and one that comes back brings it back", async ({
    skip,
  }) => {
    await using redis = await testRedis();
    const { server } = redis;
    if (server === undefined) skip("the Redis is not the test's own");
    await stores().subscribe();
    await using journal = await openJournal();
    await using proxy = await openTcpProxy(redis.url);
    await using ingester = startIngester({ ...stores().settings, ...journal.settings, REDIS_URL: proxy.url });
    expect(await seenOf(redis.url, journal, ingester)).toBe(true);
    proxy.refuse();
    const before = journal.appended();
    await journal.append(200);
    await expect.poll(() => ingester.metric("fanout_appended_total"), patience).toBe(before + 200);
    await expect.poll(() => stores().stored(journal), patience).toBe(before + 200);
    await expect.poll(() => ingester.metric("live_dropped_total"), patience).toBeGreaterThan(0);
    proxy.flow();
    expect(await seenOf(redis.url, journal, ingester)).toBe(true);
  });
});

type Journal = Awaited<ReturnType<typeof openJournal>>;

/** Watches the workspace, by way of that server, until one of the clicks that come meanwhile is seen. */
async function seenOf(url: string, journal: Journal, ingester: AppProcess): Promise<boolean> {
  await using pubSub = await openPubSub(url, { log: silentLog, metrics: createMetrics() });
  const over = new AbortController();
  const appended: string[] = [];
  async function clicksCome(): Promise<void> {
    await expect.poll(() => ingester.metric("live_watched"), patience).toBe(1);
    while (!over.signal.aborted) {
      appended.push(...(await journal.append(1)));
      await delay(100);
    }
  }
  const coming = clicksCome();
  let isSeen = false;
  for await (const notice of watchClicks(
    pubSub,
    { workspaceId: 1 },
    { signal: AbortSignal.timeout(30_000) },
  )) {
    // Clicks of before may be on their way.
    isSeen = notice.kind === "clicks" && notice.clicks.some(({ event_id }) => appended.includes(event_id));
    if (isSeen) break;
  }
  over.abort();
  await coming;
  return isSeen;
}
