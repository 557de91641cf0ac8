import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { eventLogContract } from "../contract.ts";
import { contractGroups } from "../contract/trial.ts";
import { maxRecordBytes } from "./appender.ts";
import { openRedisEventLog } from "./event-log.ts";

/** Small, so that the case of the slow consumer need not write much. */
const tuning = { aheadBytes: 2 * 1024 * 1024, fetchBytes: 512 * 1024 };

eventLogContract(
  "redis",
  async () => {
    const redis = await testRedis();
    const metrics = createMetrics();
    const url = `${redis.url}?groups=${contractGroups.main},${contractGroups.other}`;
    return {
      open: () => openRedisEventLog(url, { log: silentLog, metrics }, tuning),
      tooLargeBytes: maxRecordBytes + 1,
      ahead: {
        // One read comes on top of the bound; the first of a reader does not know how large entries are.
        limitBytes: tuning.aheadBytes + 2 * tuning.fetchBytes,
        bytes: async () => {
          const { body } = await metrics.render();
          const held = [...body.matchAll(/^event_log_ahead_bytes\{.* (\d+)$/gm)];
          return Math.max(...held.map(([, bytes]) => Number(bytes)));
        },
      },
      modelRuns: 50,
      [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
    };
  },
  {
    skip: {
      "a fleeting group is forgotten when its reader is closed":
        "what every group has read is trimmed, so that a new one would find nothing",
    },
  },
);
