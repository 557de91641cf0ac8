import { setTimeout as delay } from "node:timers/promises";

import { seeded } from "@sluice/testkit/seed.ts";

import type { Broker } from "./broker.ts";
import { startClicks } from "./clicks.ts";
import { killAtRandom } from "./kills.ts";
import { processesOf } from "./processes.ts";
import { keepSupervisor } from "./supervisor.ts";
import { createSystem, type StoreKind } from "./system.ts";
import { judge, stopMerges, type Verdict } from "./verdict.ts";
import { victims, whileInserting } from "./victims.ts";

export interface OrdealOptions {
  /** The event log; without one, the edge's own journal. It is killed like everything else. */
  readonly broker?: Broker;
  readonly store: StoreKind;
  readonly kills: number;
  readonly meanPauseMs: number;
  readonly perSecond: number;
  /** At least so many answered clicks; the load goes on until the last kill all the same. */
  readonly clicks: number;
  /** Chooses who is killed and when; how the machine schedules the rest remains its own affair. */
  readonly seed: number;
}

export interface Report extends Verdict {
  readonly answered: number;
  /** Clicks without an answer, by what they got instead. They may or may not be stored. */
  readonly unanswered: ReadonlyMap<string, number>;
  readonly kills: ReadonlyMap<string, number>;
  readonly seconds: number;
  /** Of the supervisor, told to stop at the end. */
  readonly exitCode: number | null;
  /** Processes of the system that were still there after it had stopped. */
  readonly leftOver: readonly string[];
  /** For whoever has to find out what went wrong: the seed, and the last of what was printed. */
  readonly story: string;
}

/** How long it may take, all restarts behind it, until what was answered is stored, beside what the log waits. */
const settleMs = 60_000;

/**
 * Clicks on a running system while its processes are killed at random, and then counts. Everything is done through
 * the ports, and through signals to whoever listens on them.
 */
export async function ordeal(options: OrdealOptions): Promise<Report> {
  const startedAt = performance.now();
  const { broker, store } = options;
  await using system = await createSystem({
    store,
    ...(broker !== undefined && { env: { EVENT_LOG_URL: broker.url } }),
  });
  await using supervisor = keepSupervisor(system);
  await supervisor.up();
  await stopMerges(system);

  await using clicks = startClicks({ port: system.ports.edge, path: "/demo", perSecond: options.perSecond });
  const random = seeded(options.seed);
  const all = victims(system, supervisor, broker, random);
  const kills = await killAtRandom({ ...options, random, victims: all });
  // A Redis that comes back is sent again what it had been sent, and that would make up for a loss before it: so the
  // last who die are ingesters at work.
  const last = all.filter(({ name }) => name === whileInserting);
  for (const [name, dealt] of await killAtRandom({ ...options, random, victims: last, kills: lastKills }))
    kills.set(name, dealt + (kills.get(name) ?? 0));
  while (clicks.answered.size < options.clicks) await delay(100);
  await clicks.stop();
  await supervisor.up();
  const verdict = await judge(system, clicks.answered, settleMs + (broker?.redeliversWithinMs ?? 0));
  const exitCode = await supervisor.stop();
  const leftOver = (await processesOf(system.dataDir)).map(({ pid, command }) => `${pid} ${command}`);
  return {
    ...verdict,
    answered: clicks.answered.size,
    unanswered: clicks.unanswered,
    kills,
    seconds: (performance.now() - startedAt) / 1000,
    exitCode,
    leftOver,
    story: [`seed ${options.seed}`, ...system.output.slice(-200)].join("\n"),
  };
}

/** What a report has that it must not have, and its story at the end; empty when all is well. */
export function problems(report: Report): string[] {
  const { missing, holes, leftOver, kills, exitCode } = report;
  const first = missing.slice(0, 20).join(" ");
  const found: [boolean, string][] = [
    [missing.length > 0, `${missing.length} clicks were answered and are not stored: ${first}`],
    [report.repeats > 0, `${report.repeats} rows are repeats: ${report.repeated.join("; ")}`],
    [report.repeatsInView > 0, `${report.repeatsInView} repeats are in the view`],
    [holes.length > 0, `numbers that nothing accounts for: ${holes.join("; ")}`],
    [report.deadLetters > 0, `${report.deadLetters} dead letters`],
    [report.merges > 0, `${report.merges} merges, which would have hidden repeats`],
    [exitCode !== 0, `the supervisor ended with ${exitCode}`],
    [leftOver.length > 0, `left running: ${leftOver.join("; ")}`],
    [[...kills.values()].includes(0), `not everything was killed: ${[...kills].join("; ")}`],
  ];
  const said = found.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
  return said.length === 0 ? [] : [...said, report.story];
}

/** One in three lets its insert come to an end. */
const lastKills = 2;
