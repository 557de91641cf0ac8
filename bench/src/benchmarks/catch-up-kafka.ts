import { join } from "node:path";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { fill, topic } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { openEngine } from "../click-tables.ts";
import { createClicks } from "../clicks.ts";
import { catchUpInRounds } from "../ingestion.ts";

const append = { name: "kafka-append", unit: "records/s" };
const rate = { name: "catch-up-kafka", unit: "events/s", goal: { atLeast: 40_000 } };
const ingester = { name: "catch-up-kafka-ingester", unit: "us/event" };
const engine = { name: "catch-up-kafka-engine", unit: "us/event" };

/** As many as the topic has partitions: each edge run has one of them. */
const edges = 8;

/** As `catch-up`, with a broker of one node on the same cores: eight edges, eight partitions, one ingester. */
export const catchUpFromKafka: Benchmark = {
  name: "catch-up-kafka",
  figures: [append, rate, ingester, engine],
  async run(bench) {
    await using directory = await tempDir();
    await using kafka = await startKafka({ dataDir: join(directory.path, "kafka"), log: silentLog });
    bench.against("Kafka 4.3, one broker");
    await createTopics(kafka.url, [{ topic, partitions: edges, replication: 1 }]);
    const each = Math.round((500_000 * bench.scale) / bench.rounds);
    const events = each * bench.rounds;
    const clicks = createClicks({ edges, total: events });
    const appends: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      appends.push(each / (await fill(kafka.url, clicks, each, bench.signal)));
    }
    bench.record(append.name, appends);

    await using clickHouse = await openEngine(bench);
    const rounds = await catchUpInRounds({ eventLogUrl: kafka.url, events }, clickHouse, bench);
    bench.record(
      rate.name,
      rounds.map((round) => round.eventsPerSecond),
    );
    bench.record(
      ingester.name,
      rounds.map((round) => round.ingesterMicroseconds),
    );
    bench.record(
      engine.name,
      rounds.map((round) => round.engineMicroseconds),
    );
  },
};
