// A member of a consumer group, for tests that kill or stop it: node member.fixture.ts <url> <topic> <group> <idleMs>
// Takes a batch, says so, holds it, and commits it when it is told to.
import { once } from "node:events";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { EventLogError } from "../event-log.ts";
import { openRedisEventLog } from "./event-log.ts";

const [, , url = "", topic = "", group = "", idleMs = ""] = process.argv;
await using log = await openRedisEventLog(
  url,
  { log: silentLog, metrics: createMetrics() },
  { idleMs: Number(idleMs), claimEveryMs: 50, blockMs: 50 },
);
await using reader = await log.open(topic, { group, signal: new AbortController().signal });
const batch = await reader.next({ minRecords: 1, maxRecords: 10, maxBytes: 1_000_000, maxWaitMs: 0 });
process.stdout.write(`holding ${batch?.records.length}\n`);
await once(process.stdin, "data");
try {
  await batch?.commit();
  process.stdout.write("committed\n");
} catch (error) {
  process.stdout.write(`${error instanceof EventLogError ? error.code : String(error)}\n`);
}
process.stdin.destroy();
