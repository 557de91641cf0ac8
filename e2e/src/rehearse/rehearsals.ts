import { setTimeout as delay } from "node:timers/promises";

import type { KeptServer } from "../keep-server.ts";
import { backupRestore } from "./backup-restore.ts";
import { diskFull } from "./disk-full.ts";
import { postgresOutage } from "./postgres-outage.ts";
import { regionCut } from "./region-cut.ts";
import { type Rehearsal, waited } from "./rehearsal.ts";
import { rollingUpgrade } from "./rolling-upgrade.ts";

const one = { regions: ["edge"], ingesters: 1, dispatchers: 1 };

/** Webhooks go on; what is not stored waits in the event log. */
const clickhouseOutage: Rehearsal = {
  layout: { ...one, log: "kafka" },
  phase: "ClickHouse is away",
  happen: ({ installation, forMs }) => away(installation.servers.clickhouse, forMs),
  check: (during) => waited(during, "to store"),
};

/** Clicks wait in the edge's journal. */
const brokerOutage: Rehearsal = {
  layout: { ...one, log: "kafka" },
  phase: "Kafka is away",
  happen: ({ installation, forMs }) => away(installation.servers.kafka, forMs),
  check: (during) => waited(during, "to store"),
};

/** Redis is the event log, and where edges share links. */
const redisOutage: Rehearsal = {
  layout: { ...one, log: "redis" },
  phase: "Redis is away",
  happen: ({ installation, forMs }) => away(installation.servers.redis, forMs),
  check: (during) => waited(during, "to store"),
};

async function away(server: KeptServer | undefined, forMs: number): Promise<readonly string[]> {
  await server?.away(delay(forMs));
  return [];
}

const rehearsals: ReadonlyMap<string, Rehearsal> = new Map([
  ["clickhouse-outage", clickhouseOutage],
  ["broker-outage", brokerOutage],
  ["disk-full", diskFull],
  ["region-cut", regionCut],
  ["postgres-outage", postgresOutage],
  ["redis-outage", redisOutage],
  ["rolling-upgrade", rollingUpgrade],
  ["backup-restore", backupRestore],
]);

export const rehearsalNames: readonly string[] = [...rehearsals.keys()];

export function rehearsalNamed(name: string): Rehearsal | undefined {
  return rehearsals.get(name);
}
