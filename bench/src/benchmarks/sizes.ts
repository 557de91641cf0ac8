import { randomBytes } from "node:crypto";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { encodeClick } from "@sluice/click-event/encode.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { startApp } from "../app.ts";
import type { Bench, Benchmark } from "../benchmark.ts";
import { type ClickTables, openEngine } from "../click-tables.ts";
import { createClicks } from "../clicks.ts";

const unit = "bytes/click";
const inJournal = { name: "size-journal", unit };
const inKafka = { name: "size-kafka", unit };
const inKafkaQuiet = { name: "size-kafka-quiet", unit };
const inParts = { name: "size-clickhouse-parts", unit };
const inTable = { name: "size-clickhouse", unit };
const allTables = { name: "size-clickhouse-database", unit };

/** What a click takes on each disk on its way: what docs/capacity.md reckons with. Sizes do not depend on the machine. */
export const sizes: Benchmark = {
  name: "sizes",
  figures: [inJournal, inKafka, inKafkaQuiet, inParts, inTable, allTables],
  async run(bench) {
    const events = Math.round(500_000 * bench.scale);
    await using directory = await tempDir();
    const perClick = (pattern: string, count: number) =>
      globSync(pattern, { cwd: directory.path }).reduce(
        (sum, path) => sum + statSync(join(directory.path, path)).size,
        0,
      ) / count;

    const journalUrl = `journal://${join(directory.path, "journal")}`;
    await append(journalUrl, { topic: "clicks", edges: 4, count: events, at: 5_000 }, bench);
    bench.recordSingle(inJournal.name, perClick("journal/clicks/*/*.seg", events));

    {
      await using kafka = await startKafka({ dataDir: join(directory.path, "kafka"), log: silentLog });
      bench.against("Kafka 4.3, zstd");
      const quiet = Math.round(events / 20);
      // One edge each, as each has a shipper of its own: at 100,000 clicks a second, and at a few hundred.
      for (const [topic, at, count] of [
        ["busy", 5_000, events],
        ["quiet", 10, quiet],
      ] as const) {
        await createTopics(kafka.url, [{ topic, partitions: 1, replication: 1 }]);
        await append(kafka.url, { topic, edges: 1, count, at }, bench);
      }
      bench.recordSingle(inKafka.name, perClick("kafka/**/busy-0/*.log", events));
      bench.recordSingle(inKafkaQuiet.name, perClick("kafka/**/quiet-0/*.log", quiet));
    }

    await using engine = await openEngine(bench);
    await using tables = await engine.openTables("sizes");
    const env = { EVENT_LOG_URL: journalUrl, CLICK_STORE_URL: tables.url };
    const ingester = await startApp({ name: "click-ingester", env }, bench);
    await stored(tables, events, bench);
    await ingester[Symbol.asyncDispose]();
    bench.recordSingle(inParts.name, (await bytesOf(tables, "click_events")) / events);
    await tables.query("OPTIMIZE TABLE click_events FINAL");
    bench.recordSingle(inTable.name, (await bytesOf(tables, "click_events")) / events);
    bench.recordSingle(allTables.name, (await bytesOf(tables, "%")) / events);
  },
};

/** Every click is somebody else's: a visitor's hash is what compresses least, and those of `createClicks` repeat. */
async function append(
  url: string,
  { topic, edges, count, at }: { topic: string; edges: number; count: number; at: number },
  { signal }: Bench,
): Promise<void> {
  await using log = await openEventLog(url, { log: silentLog, metrics: createMetrics() });
  const clicks = createClicks({ edges, total: count });
  for (let left = count; left > 0; left -= at) {
    signal.throwIfAborted();
    const records = Array.from({ length: Math.min(left, at) }, () => {
      const click = { ...clicks.event(), visitor: randomBytes(16).toString("hex") };
      return { key: click.edge_run, value: encodeClick(click) };
    });
    await log.append(topic, records);
  }
}

async function stored(tables: ClickTables, events: number, { signal }: Bench): Promise<void> {
  while ((await tables.query("SELECT count() FROM click_events"))[0] !== String(events))
    await delay(200, undefined, { signal });
}

async function bytesOf(tables: ClickTables, table: string): Promise<number> {
  const [bytes] = await tables.query(
    `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase() AND table LIKE '${table}'`,
  );
  return Number(bytes);
}
