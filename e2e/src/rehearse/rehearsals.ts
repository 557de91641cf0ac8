import { setTimeout as delay } from "node:timers/promises";

import type { During, Rehearsal } from "./rehearsal.ts";

const one = { regions: ["edge"], ingesters: 1, dispatchers: 1 };

/** ClickHouse is killed: the event log keeps what is not stored. */
const clickhouseOutage: Rehearsal = {
  layout: { ...one, log: "kafka" },
  phase: "ClickHouse is away",
  happen: ({ installation, forMs }) => installation.servers.clickhouse.away(delay(forMs)),
  check: (during) => waited(during, "to store"),
};

/** A break that holds up nothing was none. */
function waited({ most, growth }: During, column: string): string[] {
  const answered = growth("answered");
  const waiting = most(column);
  return waiting < answered / 2 ? [`of ${answered} clicks only ${waiting} waited: was anything broken?`] : [];
}

const rehearsals: ReadonlyMap<string, Rehearsal> = new Map([["clickhouse-outage", clickhouseOutage]]);

export const rehearsalNames: readonly string[] = [...rehearsals.keys()];

export function rehearsalNamed(name: string): Rehearsal | undefined {
  return rehearsals.get(name);
}
