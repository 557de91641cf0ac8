import { join } from "node:path";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { silentLog } from "@sluice/service/log.ts";
import type { Benchmark } from "../benchmark.ts";
import { goTool, startClassicStack } from "../classic-stack.ts";
import { requireTool } from "../program.ts";
import { openSite } from "../site.ts";
import { median } from "../statistics.ts";
import { wrk, wrkTool } from "../wrk.ts";

const ours = { name: "redirects-shipping", unit: "req/s" };
const classic = { name: "redirects-classic-go", unit: "req/s" };
const ratio = { name: "redirects-shipping/classic-go", unit: "ratio", goal: { atLeast: 0.8 } };

const linkCount = 100_000;
const topic = "clicks";
const peerTopic = "classic";

/**
 * All that an edge does, shipping to Kafka, beside a stack in Go that keeps nothing on disk and waits for nothing. Both
 * servers, the broker and the visitors share the cores.
 */
export const redirectsAndGo: Benchmark = {
  name: "redirects-go",
  figures: [ours, classic, ratio],
  async run(bench) {
    await requireTool(wrkTool, bench);
    await requireTool(goTool, bench);
    await using site = await openSite(bench, linkCount);
    await using kafka = await startKafka({ dataDir: join(site.dir, "kafka"), log: silentLog });
    bench.against("Kafka 4.3, one broker");
    const topics = [topic, peerTopic].map((name) => ({ topic: name, partitions: 8, replication: 1 }));
    await createTopics(kafka.url, topics);
    const edge = await site.startEdge({ capture: "on", workers: 2, eventLogUrl: kafka.url });
    const broker = new URL(kafka.url).host;
    await using peer = await startClassicStack(site, { broker, topic: peerTopic }, bench);

    const seconds = Math.ceil(5 * bench.scale);
    const rates = new Map<number, number[]>([edge, peer].map(({ port }) => [port, []]));
    const load = { requestsPath: site.requestsPath };
    for (const port of rates.keys()) await wrk({ ...load, port, seconds }, bench);
    for (let round = 0; round < bench.rounds; round += 1) {
      const turns = round % 2 === 0 ? [...rates] : [...rates].toReversed();
      for (const [port, of] of turns) of.push(await wrk({ ...load, port, seconds }, bench));
    }
    const [oursRates = [], classicRates = []] = rates.values();
    bench.record(ours.name, oursRates);
    bench.record(classic.name, classicRates);
    bench.recordSingle(ratio.name, median(oursRates) / median(classicRates));
  },
};
