import { setTimeout as delay } from "node:timers/promises";

import { seeded } from "@sluice/testkit/seed.ts";

import { startAppender } from "./fault-soak/appender.ts";
import { aboutRow, faultsOf } from "./fault-soak/faults.ts";
import { openRig, type RigOptions } from "./fault-soak/rig.ts";
import { takeTally, type Tally } from "./fault-soak/tally.ts";

export interface FaultSoakOptions extends Pick<RigOptions, "logUrl" | "ingesters"> {
  readonly faults: number;
  readonly perSecond: number;
  /** The mean time between the end of one and the next. */
  readonly meanPauseMs: number;
  /** Chooses what happens and when; how the machine schedules the rest remains its own affair. */
  readonly seed: number;
}

export interface FaultReport extends Tally {
  readonly answered: number;
  /** How often each kind happened. */
  readonly faults: ReadonlyMap<string, number>;
  /** Ingesters that ended, killed or not. */
  readonly ends: number;
  readonly peakBytes: number;
  readonly seconds: number;
  readonly story: string;
}

/** How long it may take, all faults behind it, until what was answered is stored. */
const settleMs = 120_000;

/** Small batches: most moments are between two steps of one. */
const settings = { BATCH_MIN_ROWS: "1", BATCH_MAX_ROWS: "2000", BATCH_MAX_WAIT_MS: "20" };

/** Appends clicks while all that can go wrong between the event log and the table goes wrong, and then counts. */
export async function soakFaults(options: FaultSoakOptions): Promise<FaultReport> {
  const startedAt = performance.now();
  const random = seeded(options.seed);
  await using rig = await openRig({ ...options, settings });
  const appender = startAppender(rig.events, { perSecond: options.perSecond, edges: 3 });
  const kinds = faultsOf(rig, appender, random);
  const happened = new Map(kinds.map(({ name }) => [name, 0]));
  let waiting = [...kinds];
  let peakBytes = 0;
  for (let count = 0; count < options.faults; count += 1) {
    // Everything has a turn before anything has another; some come at once, one after the other.
    if (waiting.length === 0) waiting = [...kinds];
    const fault = waiting[Math.floor(random() * waiting.length)];
    if (fault === undefined) break;
    waiting = waiting.filter((other) => other !== fault);
    await delay(random() * 2 * options.meanPauseMs);
    for (const ingester of rig.ingesters) peakBytes = Math.max(peakBytes, await ingester.peakBytes());
    await fault.happen();
    happened.set(fault.name, (happened.get(fault.name) ?? 0) + 1);
  }
  await appender.stop();
  const tally = await takeTally(rig.engine, appender.runs(), settleMs);
  return {
    ...tally,
    answered: appender.answered(),
    faults: happened,
    ends: rig.ingesters.reduce((sum, { ends }) => sum + ends(), 0),
    peakBytes,
    seconds: (performance.now() - startedAt) / 1_000,
    story: [`seed ${options.seed}`, ...rig.ingesters.flatMap(({ story }) => story.slice(-50))].join("\n"),
  };
}

/** What a report has that it must not have, and its story at the end; empty when all is well. */
export function faultProblems(report: FaultReport): string[] {
  const { answered, stored, holes, repeats, repeatsInView, setAside, faults, merges, peakBytes, story } =
    report;
  const found: [boolean, string][] = [
    [holes.length > 0, `answered, and not there: ${holes.join("; ")}`],
    [stored + setAside !== answered, `${answered} answered, and ${stored + setAside} kept`],
    [repeats > 0, `${repeats} rows are repeats`],
    [repeatsInView > 0, `${repeatsInView} rows of the view are repeats`],
    // One that meets a batch of one.
    [setAside > (faults.get(aboutRow) ?? 0), `${setAside} clicks are dead letters`],
    [merges > 0, `${merges} merges, which would have hidden repeats`],
    [peakBytes > 256e6, `an ingester took ${Math.round(peakBytes / 1e6)} MB`],
  ];
  const said = found.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
  return said.length === 0 ? [] : [...said, story];
}
