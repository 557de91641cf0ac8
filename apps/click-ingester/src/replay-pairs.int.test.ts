import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { migrate } from "@sluice/click-store/migrate.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { queryPostgres, testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { describe, expect, test } from "vitest";
import { ask } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

// A replay on every log that can be read again and on either store, beside the live group.

/** A store with its tables. What a test asks is worded so that both understand it. */
interface Store extends AsyncDisposable {
  readonly url: string;
  /** The one number of a statement. */
  ask(statement: string): Promise<number>;
  /** Deletes what is stored below a number. */
  forget(belowNumber: number): Promise<unknown>;
}

const stores = {
  async ClickHouse(): Promise<Store> {
    const clickhouse = await testClickHouse();
    const url = `${clickhouse.url}/${clickhouse.database}`;
    await migrate(url, { log: silentLog });
    await ask(clickhouse, "SYSTEM STOP MERGES click_events");
    return {
      url,
      ask: async (statement) => Number(await ask(clickhouse, statement)),
      async forget(number) {
        // A deletion is a merge to the server.
        await ask(clickhouse, "SYSTEM START MERGES click_events");
        await ask(clickhouse, `DELETE FROM click_events WHERE edge_seq < ${number}`);
        await ask(clickhouse, "SYSTEM STOP MERGES click_events");
      },
      [Symbol.asyncDispose]: () => clickhouse[Symbol.asyncDispose](),
    };
  },
  async Postgres(): Promise<Store> {
    const postgres = await testPostgres();
    await migrate(postgres.url, { log: silentLog });
    return {
      url: postgres.url,
      async ask(statement) {
        const [row = {}] = await queryPostgres(postgres.url, statement);
        return Number(Object.values(row)[0]);
      },
      forget: (number) => queryPostgres(postgres.url, `DELETE FROM click_events WHERE edge_seq < ${number}`),
      [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
    };
  },
};

const logs = {
  async journal() {
    const temp = await tempDir();
    return {
      url: `journal://${temp.path}?groups=store`,
      topic: "clicks",
      [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
    };
  },
  async Kafka() {
    const kafka = await testKafka();
    const topic = `${kafka.topicPrefix}clicks`;
    await createTopics(kafka.url, [{ topic, partitions: 4, replication: 1 }]);
    return { url: kafka.url, topic, [Symbol.asyncDispose]: () => kafka[Symbol.asyncDispose]() };
  },
};

/** How many rows, and how many different clicks, the table has, and the view. */
async function counts(store: Store) {
  const count = (table: string) =>
    Promise.all([
      store.ask(`SELECT count(*) AS n FROM ${table}`),
      store.ask(`SELECT count(DISTINCT event_id) AS n FROM ${table}`),
    ]);
  return { table: await count("click_events"), view: await count("clicks") };
}

const once = (clicks: number) => ({ table: [clicks, clicks], view: [clicks, clicks] });

const pairs = [
  ["Kafka", "ClickHouse"],
  ["Kafka", "Postgres"],
  ["journal", "Postgres"],
] as const;
const runs = [21, 22, 23];
const patience = { timeout: 60_000 };

describe.for(pairs)("%s and %s", ([logName, storeName]) => {
  async function openPair() {
    await using stack = new AsyncDisposableStack();
    const store = stack.use(await stores[storeName]());
    const log = stack.use(await logs[logName]());
    const events = stack.use(await openEventLog(log.url, { log: silentLog, metrics: createMetrics() }));
    const opened = stack.move();
    const settings = {
      EVENT_LOG_URL: log.url,
      EVENT_LOG_TOPIC: log.topic,
      CLICK_STORE_URL: store.url,
      BATCH_MIN_ROWS: "1",
      BATCH_MAX_ROWS: "500",
      BATCH_MAX_WAIT_MS: "100",
    };
    let number = 0;
    let appendedAt = 0;
    return {
      store,
      settings,
      /** So many of each run. */
      append: async (count: number): Promise<void> => {
        const clicks = runs.flatMap((run) =>
          Array.from({ length: count }, (_each, index) => sampleClick(run, number + index + 1)),
        );
        await events.append(log.topic, clicks.map(clickRecord));
        number += count;
        appendedAt = Date.now();
      },
      /** The highest number that is appended, and when it was: what comes later is later. */
      last: () => ({ number, appendedAt }),
      clicks: () => number * runs.length,
      /** What it prints at its end. */
      replay: async (...args: string[]): Promise<string> => {
        const program = fileURLToPath(new URL("replay.ts", import.meta.url));
        const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env: settings });
        return stdout.trim();
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  }

  describeWith("a replay beside the live group", openPair, (pair) => {
    test("of clicks that it has just stored, while it stores more, repeats none; later it stores what is missing", async () => {
      const { store, settings, append, clicks, last, replay } = pair();
      await using live = startIngester(settings);
      const enough = new AbortController();
      async function clicksCome(): Promise<void> {
        for (; !enough.signal.aborted; await delay(20)) await append(5);
      }
      const coming = clicksCome();
      try {
        for (let time = 1; time <= 2; time += 1) {
          await expect.poll(() => last().number).toBeGreaterThan(200 * time);
          const { number, appendedAt } = last();
          const stored = `SELECT count(*) AS n FROM click_events WHERE edge_seq <= ${number}`;
          await expect.poll(() => store.ask(stored), patience).toBe(number * runs.length);
          // Of the last millisecond it may leave some out.
          expect(await replay(`--to=${appendedAt}`)).toMatch(
            /^([1-9]\d{2,}) records read, \1 clicks stored already, 0 stored now/,
          );
        }
      } finally {
        enough.abort();
        await coming;
      }
      await expect.poll(() => live.metric("ingest_rows_total"), patience).toBe(clicks());
      expect(await counts(store)).toEqual(once(clicks()));

      await store.forget(101);
      expect(await replay()).toBe(
        `${clicks()} records read, ${clicks() - 300} clicks stored already, 300 stored now, 0 dead letters`,
      );
      expect(await counts(store)).toEqual(once(clicks()));
      expect(await live.metric("ingest_repeats_looked_up_total")).toBe(0);

      const from = Date.now();
      await append(10);
      expect(await replay(`--from=${from}`)).toMatch(new RegExp(`^${10 * runs.length} records read, `));
      live.kill("SIGTERM");
      await live.ended;
    });

    test("that overtakes it shows no click twice in the view", async () => {
      const { store, settings, append, clicks, replay } = pair();
      await append(2_000);
      const replaying = replay();
      await using live = startIngester(settings);
      await live.said("operations server listening");
      await replaying;
      // The live group's own: it had committed all that came before.
      const handled = async () =>
        (await live.metric("ingest_rows_total")) + (await live.metric("ingest_repeats_stored_total"));
      await expect.poll(handled, patience).toBe(2_000 * runs.length);
      expect((await counts(store)).view).toEqual([clicks(), clicks()]);
    });
  });
});
