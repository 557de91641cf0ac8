import { setTimeout as delay } from "node:timers/promises";

import type { Broker } from "./broker.ts";
import { listenerOn, send } from "./processes.ts";
import type { System } from "./system.ts";

/** Something that may be killed. */
export interface Victim {
  readonly name: string;
  /** `kill -9`. Resolves to false, having done nothing, when it was down; does not wait until it is up again. */
  kill(): Promise<boolean>;
}

/** All of a system. What is known by its port is started again by the supervisor. */
export function victims(
  { ports }: System,
  supervisor: { kill(): Promise<boolean> },
  broker: Broker | undefined,
  random: () => number,
): Victim[] {
  const { edge, ingesterOps: ingester, clickhouse, postgres } = ports;
  const listeners = Object.entries({ edge, ingester, clickhouse, postgres }).map(([name, port]) => ({
    name,
    kill: async () => send(await listenerOn(port), "SIGKILL"),
  }));
  return [
    ...listeners,
    { name: "ingester while it inserts", kill: () => killWhileInserting(ports, random) },
    { name: "supervisor", kill: () => supervisor.kill() },
    ...(broker === undefined ? [] : [{ name: "broker", kill: () => broker.kill() }]),
  ];
}

/** The standalone's flush, and some: by then a batch is on its way to the engine. */
const flushMs = 1_200;
/** How far into the insert the ingester may get. */
const insertMs = 50;
/** Longer than a new ingester takes to come up. */
const longestFreezeMs = 3_000;

/**
 * What chance would rarely hit: the engine is frozen until an insert waits for it. Then the ingester is killed, and
 * the engine goes on: before that, while the next ingester comes up, or never, because it is killed too.
 */
async function killWhileInserting(
  { ingesterOps, clickhouse }: System["ports"],
  random: () => number,
): Promise<boolean> {
  const [ingester, engine] = [await listenerOn(ingesterOps), await listenerOn(clickhouse)];
  if (ingester === undefined || !send(engine, "SIGSTOP")) return false;
  await delay(flushMs);
  const order = random();
  if (order < 1 / 3) {
    send(engine, "SIGCONT");
    await delay(random() * insertMs);
    return send(ingester, "SIGKILL");
  }
  const dealt = send(ingester, "SIGKILL");
  await delay(random() * longestFreezeMs);
  send(engine, order < 2 / 3 ? "SIGCONT" : "SIGKILL");
  return dealt;
}
