import { join } from "node:path";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { fill } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { openEngine } from "../click-tables.ts";
import { createClicks } from "../clicks.ts";
import { catchUpOn } from "../ingestion.ts";

const one = { name: "one-member", unit: "us/event" };
const two = { name: "busier-of-two-members", unit: "us/event" };
const ratio = { name: "one-member/busier-of-two", unit: "ratio", goal: { atLeast: 1.8 } };

const partitions = 8;
/** Enough runs that each partition has about as many as any other. */
const edges = 512;
/** So many that what each process compiles once hardly counts: it is no part of what a second one could take off. */
const eventsInAll = 2_000_000;
/** For one member and for two. */
const topics = ["alone", "together"];

/**
 * What a second ingester takes off the first. On two cores, which engine and broker share with them, two are no faster
 * than one; so this is not about time, but about CPU: with cores of their own the busier of the two would be as much
 * faster than one alone as it needs less.
 */
export const members: Benchmark = {
  name: "members",
  figures: [one, two, ratio],
  async run(bench) {
    await using directory = await tempDir();
    await using kafka = await startKafka({ dataDir: join(directory.path, "kafka"), log: silentLog });
    bench.against("Kafka 4.3, one broker");
    await createTopics(
      kafka.url,
      topics.map((topic) => ({ topic, partitions, replication: 1 })),
    );
    await using engine = await openEngine(bench);
    const events = Math.round(eventsInAll * bench.scale);
    const rounds: number[] = [];
    for (const [index, topic] of topics.entries()) {
      const backlog = {
        eventLogUrl: kafka.url,
        topic,
        events,
        fill: () => fill(kafka.url, createClicks({ edges, total: events }), events, bench.signal, topic),
      };
      const { ingesterMicroseconds } = await catchUpOn(
        backlog,
        { engine, name: topic, members: index + 1 },
        bench,
      );
      rounds.push(ingesterMicroseconds);
    }
    const [alone = Number.NaN, busier = Number.NaN] = rounds;
    bench.recordSingle(one.name, alone);
    bench.recordSingle(two.name, busier);
    bench.recordSingle(ratio.name, alone / busier);
  },
};
