import { setTimeout as delay } from "node:timers/promises";

import { seeded } from "@sluice/testkit/seed.ts";

import type { Broker } from "./broker.ts";
import { type Clicks, startClicks } from "./clicks.ts";
import { keepApp, type KeptApp } from "./keep-app.ts";
import { killAtRandom } from "./kills.ts";
import { listenerOn, processesOf, send } from "./processes.ts";
import { keepSupervisor } from "./supervisor.ts";
import { createSystem, type System } from "./system.ts";
import { victims, whileInserting } from "./victims.ts";
import { makeTarget } from "./sluice.ts";
import { addressesOf, backlogOf } from "./webhook-soak/command.ts";
import { type SoakReceiver, startReceiver, type Stored } from "./webhook-soak/receiver.ts";

export interface WebhookSoakOptions {
  /** The event log; without one, the edge's own journal. It is killed like everything else. */
  readonly broker?: Broker;
  readonly kills: number;
  readonly meanPauseMs: number;
  readonly perSecond: number;
  /** Chooses who is killed and when, and what the receiver does. */
  readonly seed: number;
}

export interface WebhookReport {
  readonly answered: number;
  readonly unanswered: ReadonlyMap<string, number>;
  /** By path: two endpoints and a pixel. */
  readonly targets: ReadonlyMap<string, TargetReport>;
  readonly waiting: number;
  readonly dead: number;
  readonly moods: ReadonlyMap<string, number>;
  readonly kills: ReadonlyMap<string, number>;
  readonly seconds: number;
  readonly exitCode: number | null;
  readonly leftOver: readonly string[];
  readonly story: string;
}

export interface TargetReport {
  /** Answered clicks that it has. */
  readonly delivered: number;
  /** Answered clicks that it does not have. */
  readonly missing: readonly number[];
  /** Requests that it stored beyond the first for a click. */
  readonly repeats: number;
  /** Clicks that came under two ids. */
  readonly renamed: number;
}

const endpoints = ["/one", "/two"];
const pixel = "/pixel";

/** Leases end after a minute, breakers open for half of one, and a failure is tried again after five seconds. */
const settleMs = 240_000;

/** Clicks on a running system whose processes are killed at random, and then counts what has arrived. */
export async function soakWebhooks(options: WebhookSoakOptions): Promise<WebhookReport> {
  const startedAt = performance.now();
  const { broker, seed } = options;
  const random = seeded(seed);
  await using receiver = await startReceiver({ seed });
  await using system = await createSystem(broker === undefined ? {} : { env: { EVENT_LOG_URL: broker.url } });
  await using supervisor = keepSupervisor(system);
  await supervisor.up();
  const addresses = { SLUICE_DATA_DIR: system.dataDir };
  for (const path of endpoints) await makeTarget(addresses, "endpoint", `${receiver.url}${path}`);
  await makeTarget(addresses, "pixel", `${receiver.url}${pixel}?mark={utm_content}`);
  const kills = new Map<string, number>();
  await using clicks = startClicks({ port: system.ports.edge, path: "/demo", perSecond: options.perSecond });
  {
    await using second = await keepDispatcher(system);
    const dispatcher = async () => send(await listenerOn(system.ports.dispatcherOps), "SIGKILL");
    const all = [
      ...victims(system, supervisor, broker, random).filter(({ name }) => name !== whileInserting),
      { name: "dispatcher", kill: dispatcher },
      { name: "second dispatcher", kill: async () => second.kill("SIGKILL") },
    ];
    for (const [name, dealt] of await killAtRandom({ ...options, random, victims: all }))
      kills.set(name, dealt);
    await clicks.stop();
    await supervisor.up();
    // What the ingester had in hand comes again first, and then what the dispatcher had.
    await settled(system, receiver, clicks, settleMs + 2 * (broker?.redeliversWithinMs ?? 0));
  }
  const { waiting, dead } = await backlogOf(system);
  const exitCode = await supervisor.stop();
  const leftOver = (await processesOf(system.dataDir)).map(({ pid, command }) => `${pid} ${command}`);
  return {
    answered: clicks.answered.size,
    unanswered: clicks.unanswered,
    targets: new Map([...endpoints, pixel].map((path) => [path, reportOf(receiver.at(path), clicks)])),
    waiting,
    dead,
    moods: receiver.moods,
    kills,
    seconds: (performance.now() - startedAt) / 1_000,
    exitCode,
    leftOver,
    story: [`seed ${seed}`, ...system.output.slice(-200)].join("\n"),
  };
}

/** Beside the one that the supervisor keeps. Where only one may read the log, it sends what is due. */
async function keepDispatcher(system: System): Promise<KeptApp> {
  const { databaseUrl, clickStoreUrl, eventLogUrl, secretKeys } = await addressesOf(system);
  return keepApp("webhook-dispatcher", {
    EVENT_LOG_URL: eventLogUrl,
    DATABASE_URL: databaseUrl,
    CLICK_STORE_URL: clickStoreUrl,
    SECRET_KEYS: secretKeys,
    ALLOW_HTTP: "true",
    ALLOWED_PORTS: "any",
    OPS_PORT: "0",
  });
}

function reportOf({ marks, requests, renamed }: Stored, { answered }: Clicks): TargetReport {
  const missing = [...answered.missingFrom(marks)];
  return { delivered: answered.size - missing.length, missing, repeats: requests - marks.size, renamed };
}

/**
 * All endpoints have all, and nothing waits for the pixel; or what waits has not become less for too long. Pauses and
 * open breakers hold it up: so thousands that wait take minutes.
 */
async function settled(
  system: System,
  receiver: SoakReceiver,
  { answered }: Clicks,
  withinMs: number,
): Promise<void> {
  const lacks = (path: string) => answered.missingFrom(receiver.at(path).marks).next().done !== true;
  let least = Infinity;
  for (let deadline = performance.now() + withinMs; performance.now() < deadline; await delay(500)) {
    const { waiting } = await backlogOf(system).catch(() => ({ waiting: Infinity }));
    if (waiting === 0 && !endpoints.some(lacks)) return;
    if (waiting >= least) continue;
    least = waiting;
    deadline = performance.now() + withinMs;
  }
}

/** What a report has that it must not have, and its story at the end; empty when all is well. */
export function webhookProblems(report: WebhookReport): string[] {
  const { targets, waiting, dead, exitCode, leftOver, kills } = report;
  const found: [boolean, string][] = [
    ...[...targets].flatMap(([path, { missing, repeats, renamed }]): [boolean, string][] =>
      path === pixel
        ? [[repeats > 0, `${path} was sent ${repeats} clicks twice`]]
        : [
            [missing.length > 0, `${path} lacks ${missing.length} clicks: ${missing.slice(0, 20).join(" ")}`],
            [renamed > 0, `${path} got ${renamed} clicks under two ids`],
          ],
    ),
    [waiting > 0, `${waiting} deliveries still wait`],
    [dead > 0, `${dead} deliveries are dead`],
    [exitCode !== 0, `the supervisor ended with ${exitCode}`],
    [leftOver.length > 0, `left running: ${leftOver.join("; ")}`],
    [[...kills.values()].includes(0), `not everything was killed: ${[...kills].join("; ")}`],
  ];
  const said = found.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
  return said.length === 0 ? [] : [...said, report.story];
}
