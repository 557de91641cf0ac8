import { setTimeout as delay } from "node:timers/promises";

import { startAppender } from "./fault-soak/appender.ts";
import { openRig, type Rig } from "./fault-soak/rig.ts";
import { takeTally, type Tally } from "./fault-soak/tally.ts";

export interface OutageOptions {
  readonly awayMs: number;
  readonly perSecond: number;
  /** Told of each moment as it comes. */
  readonly onMoment?: (moment: Moment) => void;
}

/** What an operator sees. */
export interface Moment {
  /** Since ClickHouse went away. */
  readonly seconds: number;
  /** Clicks that the log has taken and the ingester has not stored. */
  readonly backlog: number;
  readonly oldestUnflushedSeconds: number;
  readonly peakBytes: number;
}

export interface OutageReport extends Tally {
  readonly answered: number;
  readonly curve: readonly Moment[];
  readonly mostBacklog: number;
  readonly peakBytes: number;
  /** From the moment that ClickHouse was back until no click waited; others came all the time. */
  readonly catchUpSeconds: number;
  /** Ingesters that ended: none should. */
  readonly ends: number;
}

const moments = 20;
/** Less than the clicks of two flushes is no backlog. */
const settledSeconds = 2;

/** ClickHouse goes away while clicks come, and comes back. */
export async function liveThroughOutage(options: OutageOptions): Promise<OutageReport> {
  const { awayMs, perSecond, onMoment } = options;
  await using rig = await openRig({ settings: { BATCH_MAX_WAIT_MS: "1000" } });
  const appender = startAppender(rig.events, { perSecond, edges: 3 });
  const look = (since: number) => lookAt(rig, appender.answered(), since);
  while ((await storedBy(rig)) === 0) await delay(200);

  const curve: Moment[] = [];
  const wentAt = performance.now();
  const back = rig.engine.away(delay(awayMs));
  for (let state = "away"; state !== "back";) {
    state = await Promise.race([back.then(() => "back"), delay(awayMs / moments, "away")]);
    const moment = await look(wentAt);
    curve.push(moment);
    onMoment?.(moment);
  }
  const backAt = performance.now();
  for (;;) {
    const moment = await look(wentAt);
    if (moment.backlog < perSecond * settledSeconds) break;
    await delay(200);
  }
  const catchUpSeconds = (performance.now() - backAt) / 1_000;
  await appender.stop();
  const tally = await takeTally(rig.engine, appender.runs(), 60_000);
  const last = await look(wentAt);
  onMoment?.(last);
  return {
    ...tally,
    answered: appender.answered(),
    curve: [...curve, last],
    mostBacklog: Math.max(...curve.map(({ backlog }) => backlog)),
    peakBytes: last.peakBytes,
    catchUpSeconds,
    ends: rig.ingesters.reduce((sum, { ends }) => sum + ends(), 0),
  };
}

async function storedBy({ ingesters: [ingester] }: Rig): Promise<number> {
  return (await ingester?.metric("ingest_rows_total")) ?? 0;
}

async function lookAt(rig: Rig, answered: number, since: number): Promise<Moment> {
  const [ingester] = rig.ingesters;
  return {
    seconds: (performance.now() - since) / 1_000,
    backlog: answered - (await storedBy(rig)),
    oldestUnflushedSeconds: (await ingester?.metric("ingest_oldest_unflushed_seconds")) ?? 0,
    peakBytes: (await ingester?.peakBytes()) ?? 0,
  };
}

/** What a report has that it must not have; empty when all is well. */
export function outageProblems(report: OutageReport): string[] {
  const { holes, repeats, repeatsInView, setAside, peakBytes, ends } = report;
  const found: [boolean, string][] = [
    [holes.length > 0, `answered, and not there: ${holes.join("; ")}`],
    [repeats + repeatsInView > 0, `${repeats} rows are repeats`],
    [setAside > 0, `${setAside} clicks became dead letters`],
    [peakBytes > 256 * 2 ** 20, `the ingester took ${Math.round(peakBytes / 2 ** 20)} MiB`],
    [ends > 0, `the ingester ended ${ends} times`],
  ];
  return found.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
}
