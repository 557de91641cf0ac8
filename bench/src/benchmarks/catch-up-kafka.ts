import { join } from "node:path";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { fill, topic } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { openEngine } from "../click-tables.ts";
import { createClicks } from "../clicks.ts";
import { type CaughtUp, catchUpOn } from "../ingestion.ts";
import { catchUpByKafkaEngine } from "../kafka-engine.ts";
import { median } from "../statistics.ts";

const append = { name: "kafka-append", unit: "records/s" };
const rate = { name: "catch-up-kafka", unit: "events/s", goal: { atLeast: 75_000 } };
const peer = { name: "kafka-engine", unit: "events/s" };
const ratio = { name: "catch-up-kafka/kafka-engine", unit: "ratio", goal: { atLeast: 1 } };
const ingester = { name: "catch-up-kafka-ingester", unit: "us/event", goal: { atMost: 12 } };
const engine = { name: "catch-up-kafka-engine", unit: "us/event" };
const peerEngine = { name: "kafka-engine-engine", unit: "us/event" };

/** As many as the topic has partitions: each edge run has one of them. */
const edges = 8;

/**
 * As `catch-up`, with a broker of one node on the same cores: eight edges, eight partitions, one ingester; beside
 * ClickHouse's own Kafka engine, which reads the same records into the same table.
 */
export const catchUpFromKafka: Benchmark = {
  name: "catch-up-kafka",
  figures: [append, rate, peer, ratio, ingester, engine, peerEngine],
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
    const ours = { eventLogUrl: kafka.url, events };
    const theirs = { broker: new URL(kafka.url).host, topic, events };
    const rounds: CaughtUp[] = [];
    const peerRounds: Awaited<ReturnType<typeof catchUpByKafkaEngine>>[] = [];
    const turns = [
      async (n: number) =>
        rounds.push(await catchUpOn(ours, { engine: clickHouse, name: `ours${n}` }, bench)),
      async (n: number) =>
        peerRounds.push(
          await catchUpByKafkaEngine(theirs, { engine: clickHouse, name: `theirs${n}` }, bench),
        ),
    ];
    for (let round = 0; round < bench.rounds; round += 1) {
      // Each is the first as often as the other.
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn(round);
    }
    const rates = rounds.map((round) => round.eventsPerSecond);
    const peerRates = peerRounds.map((round) => round.eventsPerSecond);
    bench.record(rate.name, rates);
    bench.record(peer.name, peerRates);
    bench.recordSingle(ratio.name, median(rates) / median(peerRates));
    bench.record(
      peerEngine.name,
      peerRounds.map((round) => round.engineMicroseconds),
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
