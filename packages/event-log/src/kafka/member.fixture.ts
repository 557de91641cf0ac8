// A member of a consumer group, for tests that kill it: node member.fixture.ts <url> <topic> <group>
// Takes a batch, says so, and holds it.
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { openEventLog } from "../open.ts";

const [, , url = "", topic = "", group = ""] = process.argv;
const log = await openEventLog(url, { log: silentLog, metrics: createMetrics() });
const reader = await log.open(topic, { group, signal: new AbortController().signal });
const batch = await reader.next({ minRecords: 1, maxRecords: 10, maxBytes: 1_000_000, maxWaitMs: 0 });
process.stdout.write(`holding ${batch?.records.length}\n`);
