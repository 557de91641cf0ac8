import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { eventLogContract } from "../contract.ts";
import { openKafkaEventLog } from "./event-log.ts";
import { createTopics } from "./topics.ts";

/** Small, so that the case of the slow consumer need not write much. */
const tuning = { aheadBytes: 2 * 1024 * 1024 };
/** One fetch of one partition comes on top of the bound. */
const limitBytes = tuning.aheadBytes + 1024 * 1024;

eventLogContract("kafka", async () => {
  const kafka = await testKafka();
  const metrics = createMetrics();
  return {
    open: () => openKafkaEventLog(kafka.url, { log: silentLog, metrics }, tuning),
    createTopic: (topic) => createTopics(kafka.url, [{ topic, partitions: 3, replication: 1 }]),
    tooLargeBytes: 2 * 1024 * 1024,
    ahead: {
      limitBytes,
      bytes: async () => {
        const { body } = await metrics.render();
        const held = [...body.matchAll(/^event_log_ahead_bytes\{.* (\d+)$/gm)];
        return Math.max(...held.map(([, bytes]) => Number(bytes)));
      },
    },
    // Each of them opens a group several times, which takes a tenth of a second.
    modelRuns: 15,
    [Symbol.asyncDispose]: () => kafka[Symbol.asyncDispose](),
  };
});
