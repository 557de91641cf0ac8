import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterEach, expect, test, vi } from "vitest";
import { createChannels } from "./channels/channels.ts";
import { Config } from "./config.ts";
import { deliver } from "./deliver.ts";
import { openHttpClient } from "./http/open.ts";
import { fannedOut, idOf } from "./testing/clicks.ts";
import { openReceiver } from "./testing/receiver.ts";
import { openWorld, type World } from "./testing/world.ts";

const deps = { log: silentLog, metrics: createMetrics() };
const hour = 3_600_000;
/** What is published, and a minute for what pauses of a failing endpoint add. */
const pauses = [5_000, 300_000, hour / 2, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** A dispatcher in this process, whose clock the test sets. */
async function run(world: World) {
  await using stack = new AsyncDisposableStack();
  const events = stack.use(await openEventLog("memory:", deps));
  const http = stack.use(openHttpClient({ allowHttp: true, ports: "any", userAgent: "test" }));
  const resources = stack.use(new AsyncDisposableStack());
  const own = Config.parse({
    EVENT_LOG_URL: "kafka://x",
    DATABASE_URL: world.postgresUrl,
    SECRET_KEYS: world.key,
  });
  const stop = new AbortController();
  const ended = deliver(
    {
      config: { ...own, LOG_LEVEL: "info", OPS_HOST: "", DRAIN_TIMEOUT_MS: 8_000 },
      ...deps,
      health: { check() {}, degraded() {}, ready() {} },
      opsPort: 0,
      answerAt() {},
      resources,
      signal: stop.signal,
    },
    {
      openEvents: async () => events,
      deliveries: world.deliveries,
      targets: world.targets,
      changes: { onChange() {}, position: () => 0, async [Symbol.asyncDispose]() {} },
      channels: createChannels(),
      attempts: { async write() {}, async keep() {}, async [Symbol.asyncDispose]() {} },
      erasures: { list: async () => [] },
      http,
    },
  );
  const opened = stack.move();
  return {
    append: (number: number) => events.append("clicks.fanout", [fannedOut(number)]),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      await opened.disposeAsync();
    },
  };
}

describeWith("the schedule", openWorld, (opened: () => World) => {
  afterEach(() => void vi.useRealTimers());

  test("ten attempts within 76 hours, then the delivery is dead; made due again, it has the same id", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    receiver.answer((_request, response) => response.writeHead(500).end());
    const { id } = await world.endpoint(receiver.url);
    vi.useFakeTimers({ toFake: ["Date"] });
    const begunAt = Date.now();
    await using dispatcher = await run(world);
    await dispatcher.append(1);
    const attempts = (count: number) =>
      expect.poll(() => receiver.received.length, { timeout: 20_000, interval: 20 }).toBe(count);
    await attempts(1);
    for (const [index, pause] of pauses.entries()) {
      // What is due in the end is due a tenth later at the latest; a breaker's pause is at most ten minutes.
      await expect
        .poll(() => world.sql(`SELECT made FROM deliveries WHERE lease IS NULL`))
        .toEqual([{ made: index + 1 }]);
      vi.setSystemTime(Date.now() + pause * 0.99);
      expect(receiver.received).toHaveLength(index + 1);
      vi.setSystemTime(Date.now() + pause * 0.12 + 11 * 60_000);
      await attempts(index + 2);
    }
    expect(Date.now() - begunAt).toBeGreaterThan(75 * hour);
    await expect
      .poll(() => world.deliveries.dead(id, { limit: 10 }))
      .toMatchObject([{ eventId: idOf(1), made: 10 }]);
    receiver.answer((_request, response) => response.writeHead(200).end());
    await world.deliveries.redo(id, { fromTs: 0, toTs: Number.MAX_SAFE_INTEGER }, Date.now());
    await attempts(11);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  }, 120_000);

  test("an endpoint that fails for five days without one success is disabled", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    receiver.answer((_request, response) => response.writeHead(500).end());
    const { id } = await world.endpoint(receiver.url);
    vi.useFakeTimers({ toFake: ["Date"] });
    await using dispatcher = await run(world);
    await dispatcher.append(2);
    await expect
      .poll(() =>
        world.sql(
          `SELECT failing_since FROM delivery_targets WHERE target = '${id}' AND failing_since IS NOT NULL`,
        ),
      )
      .toHaveLength(1);
    vi.setSystemTime(Date.now() + 5 * 24 * hour + 60_000);
    await expect
      .poll(async () => (await world.targets.show(id, Date.now())).disabled?.reason, { timeout: 20_000 })
      .toContain("5 days");
  }, 60_000);
});
