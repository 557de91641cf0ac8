import { uuidv7 } from "@sluice/click-event/uuid.ts";
import { type Attempt, openAttemptLog } from "@sluice/click-store/attempts.ts";
import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import { sampleAttempt } from "@sluice/click-store/testing/attempts.ts";
import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import { migrate } from "@sluice/link-store/migrate.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";

import { secretKey } from "../testing/dispatcher.ts";
import { runHere } from "../testing/run-here.ts";

const deps = { log: silentLog, metrics: createMetrics() };

async function openStores() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await testPostgres());
  const clickhouse = stack.use(await testClickHouse());
  const env = {
    DATABASE_URL: url,
    CLICK_STORE_URL: `${clickhouse.url}/${clickhouse.database}`,
    SECRET_KEYS: secretKey,
  };
  await migrate(url, { log: silentLog });
  await migrateClicks(env.CLICK_STORE_URL, { log: silentLog });
  await runHere(env, ["link", "create", "https://example.com/"]);
  const limits = { perTarget: 2 };
  const deliveries = stack.use(openDeliveryStore(url, { log: silentLog, limits }));
  const attempts = stack.use(await openAttemptLog(env.CLICK_STORE_URL, deps));
  const opened = stack.move();
  return { env, deliveries, attempts, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const signal = new AbortController().signal;
const hourMs = 3_600_000;

describeWith("the delivery log from the command line", openStores, (stores) => {
  const sluice = (...args: string[]) => runHere(stores().env, ["endpoint", ...args]);
  const make = async () => {
    const { out } = await sluice("create", "https://customer.example/", "--no-test");
    return `ep_${Number(out[0]?.slice(3))}` as const;
  };

  test("attempts are shown the latest first, by outcome, event and time, and nothing in them moves the cursor", async () => {
    const id = await make();
    const now = Date.now();
    const failed = attempt(id, now - 1_000, {
      outcome: "failed",
      code: "unexpected-status",
      status: 500,
      number: 2,
      replayed: true,
      nextAt: Date.UTC(2030, 0),
      response: "no\u001b[2J\r\n\u202eway",
    });
    const good = attempt(id, now - hourMs);
    const old = attempt(id, now - 40 * 24 * hourMs);
    await stores().attempts.write([good, failed, old, attempt("ep_999", now)], signal);
    const { out } = await sluice("deliveries", id);
    expect(out).toEqual([
      `${new Date(failed.ts).toISOString()}  failed  unexpected-status  status 500  12 ms  attempt 2 of a replay  ` +
        `next 2030-01-01T00:00:00.000Z  link.clicked ${failed.eventId}  no\\u001b[2J\\u000d\\u000a\\u202eway`,
      `${new Date(good.ts).toISOString()}  delivered  status 200  12 ms  attempt 1  link.clicked ${good.eventId}`,
    ]);
    const only = async (...args: string[]) =>
      (await sluice("deliveries", id, "--json", ...args)).out.map((line): unknown => JSON.parse(line));
    expect(await only("--outcome", "failed")).toEqual([failed]);
    expect(await only("--event", good.eventId)).toEqual([good]);
    expect(await only("--to", new Date(now - hourMs / 2).toISOString())).toEqual([good]);
    expect(await only("--from", new Date(now - hourMs / 2).toISOString())).toEqual([failed]);
    expect(await only("--limit", "1")).toEqual([failed]);
  });

  test("more than a page of attempts are all shown", async () => {
    const id = await make();
    const now = Date.now();
    const many = Array.from({ length: 2_300 }, (_, index) => attempt(id, now - index));
    await stores().attempts.write(many, signal);
    const { out } = await sluice("deliveries", id, "--limit", "9999", "--json");
    expect(out.map((line): unknown => JSON.parse(line))).toEqual(many);
    expect((await sluice("deliveries", id, "--limit", "1200")).out).toHaveLength(1_200);
  });

  test("what is dead, what was not kept, and who is worst", async () => {
    const id = await make();
    const calm = await make();
    const { deliveries, attempts } = stores();
    const now = Date.now();
    const ts = now - hourMs;
    const events = [0, 1, 2].map((index) => ({
      id: uuidv7(ts),
      type: "link.clicked" as const,
      workspaceId: 1,
      ts: ts + index,
      body: "{}",
    }));
    const row = { target: id, made: 1, replayed: false, dueAt: now - 5_000, lease: "a" };
    await deliveries.park(
      events.map((event) => ({ ...row, event })),
      now,
    );
    const [dead] = events;
    await deliveries.settle(
      [
        {
          target: id,
          eventId: dead?.id ?? "",
          lease: "a",
          kind: "dead",
          made: 10,
          code: "timeout",
          detail: "slow\u0007",
        },
      ],
      now,
    );
    await deliveries.pause(id, now + hourMs, "slow-down");
    await attempts.write(
      [
        attempt(id, now, { outcome: "failed", code: "timeout", status: 0, durationMs: 15_000 }),
        attempt(id, now - 1),
        attempt(calm, now - 2),
      ],
      signal,
    );
    expect((await sluice("deliveries", id, "--dead")).out).toEqual([
      `${new Date(now).toISOString()}  timeout  10 attempts  link.clicked ${dead?.id} of ${new Date(ts).toISOString()}  slow\\u0007`,
    ]);
    expect((await sluice("deliveries", id, "--dead", "--to", new Date(ts).toISOString())).out).toEqual([]);
    const gap = new Date(ts + 2).toISOString();
    expect((await sluice("deliveries", id, "--gaps")).out).toEqual([`${gap} to ${gap}  1 not kept`]);
    expect((await sluice("deliveries", id, "--gaps", "--dead")).err).toContain("cannot be used with");

    const { out } = await sluice("worst", "--json", "--limit", "1");
    expect(out.map((line): unknown => JSON.parse(line))).toMatchObject([
      {
        target: id,
        workspaceId: 1,
        failures: 1,
        attempts: 2,
        successRate: 0.5,
        waiting: 1,
        dead: 1,
        paused: `until ${new Date(now + hourMs).toISOString()}: slow-down`,
      },
    ]);
    const [, first] = (await sluice("worst")).out;
    expect(first).toMatch(new RegExp(`^${id} +1 +2 +\\d+ +1 +\\d+ +1 {2}until `));
    const shown = (await sluice("show", id)).out.join("\n");
    expect(shown).toMatch(/waiting +1, the first due 20/);
    expect(shown).toMatch(/paused +until 20\S+: slow-down/);
  });
});

function attempt(target: string, ts: number, fields: Partial<Attempt> = {}): Attempt {
  return sampleAttempt({ target, ts, ...fields });
}
