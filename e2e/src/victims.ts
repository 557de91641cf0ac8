import { setTimeout as delay } from "node:timers/promises";

import type { Broker } from "./broker.ts";
import { childrenOf, listenerOn, send } from "./processes.ts";
import type { System } from "./system.ts";

/** Something that may be killed. */
export interface Victim {
  readonly name: string;
  /** `kill -9`. Resolves to false, having done nothing, when it was down; does not wait until it is up again. */
  kill(): Promise<boolean>;
}

export const whileInserting = "ingester while it inserts";

/** All of a system. What is known by its port is started again by the supervisor. */
export function victims(
  system: System,
  supervisor: { kill(): Promise<boolean> },
  broker: Broker | undefined,
  random: () => number,
): Victim[] {
  const { edge, ingesterOps: ingester, clickhouse, postgres } = system.ports;
  const own = { edge, ingester, ...(system.store === "clickhouse" && { clickhouse }), postgres };
  const listeners = Object.entries(own).map(([name, port]) => ({
    name,
    kill: async () => send(await listenerOn(port), "SIGKILL"),
  }));
  return [
    ...listeners,
    { name: whileInserting, kill: () => killWhileInserting(system, random) },
    { name: "supervisor", kill: () => supervisor.kill() },
    ...(broker === undefined ? [] : [{ name: broker.name, kill: () => broker.kill() }]),
  ];
}

/** The standalone's flush, a read that waits for its log, and some: clicks that come are in hand by then. */
const inHandWithinMs = 4_000;
/** How far into the insert the ingester may get. */
const insertMs = 50;
/** Longer than a new ingester takes to come up. */
const longestFreezeMs = 3_000;

/**
 * What chance would rarely hit: the store is frozen until an insert waits for it. Then the ingester is killed, and
 * the store goes on: before that, while the next ingester comes up, or never, because it is killed too.
 */
async function killWhileInserting({ ports, store }: System, random: () => number): Promise<boolean> {
  const [ingester, server] = [await listenerOn(ports.ingesterOps), await listenerOn(ports[store])];
  if (ingester === undefined || server === undefined || !send(server, "SIGSTOP")) return false;
  // Postgres has a process for each connection; from now on it starts no more.
  const frozen = [server, ...(await childrenOf(server))];
  for (const pid of frozen) send(pid, "SIGSTOP");
  const goOn = () => {
    for (const pid of frozen) send(pid, "SIGCONT");
  };
  await batchInHand(ports.ingesterOps);
  await delay(insertMs);
  const order = random();
  if (order < 1 / 3) {
    goOn();
    await delay(random() * insertMs);
    return send(ingester, "SIGKILL");
  }
  const dealt = send(ingester, "SIGKILL");
  await delay(random() * longestFreezeMs);
  if (order >= 2 / 3) send(server, "SIGKILL");
  goOn();
  return dealt;
}

/** Resolves once the ingester has read a batch that it has not committed, or when that takes too long. */
async function batchInHand(opsPort: number): Promise<void> {
  for (const deadline = performance.now() + inHandWithinMs; performance.now() < deadline; await delay(20)) {
    const response = await fetch(`http://127.0.0.1:${opsPort}/metrics`).catch(() => undefined);
    const metrics = (await response?.text().catch(() => undefined)) ?? "";
    if (/^ingest_oldest_unflushed_seconds (?!0$)/m.test(metrics)) return;
  }
}
