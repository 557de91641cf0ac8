import { setTimeout as delay } from "node:timers/promises";

import { judge, type Verdict } from "../verdict.ts";
import { columnsOf } from "./columns.ts";
import { type Column, type Moment, startCurve } from "./curve.ts";
import { hook, type Installation, openInstallation } from "./installation.ts";
import { duringPhase, type Rehearsal } from "./rehearsal.ts";
import { answeredBy, startVisitors, type Visitors } from "./visitors.ts";

export interface RehearseOptions {
  /** How long visitors come: a quarter before the break, half while it lasts, the rest afterwards. */
  readonly seconds: number;
  /** To each edge. */
  readonly perSecond: number;
  /** Told of each moment as it comes. */
  readonly onMoment?: (columns: readonly Column[], moment: Moment) => void;
}

export interface Report {
  readonly columns: readonly Column[];
  readonly moments: readonly Moment[];
  readonly answered: number;
  /** Visitors without a redirect, by what they got instead. */
  readonly failed: ReadonlyMap<string, number>;
  readonly delivered: number;
  /** From when it was healed until nothing waited; visitors still came. */
  readonly caughtUpSeconds: number;
  readonly verdict: Verdict;
  /** All that must not be; empty when all is well. */
  readonly problems: readonly string[];
}

/** Longer than any back-off, a lease, and what a log holds back for a reader that was killed. */
const settleMs = 180_000;
const settlePollMs = 500;
/** For what is on its way when the counts say that all is there: other clicks than the visitors are counted, too. */
const lastMs = 5_000;

export async function rehearse(rehearsal: Rehearsal, options: RehearseOptions): Promise<Report> {
  const { seconds, perSecond, onMoment } = options;
  const forMs = (seconds / 2) * 1_000;
  await using installation = await openInstallation(rehearsal.layout);
  await using stack = new AsyncDisposableStack();
  const { entrances } = installation;
  const visitors = entrances.map((entrance, index) =>
    stack.use(startVisitors({ ...entrance, perSecond, turn: { index, of: entrances.length } })),
  );
  const columns = columnsOf(installation, visitors);
  await using curve = startCurve(columns, (moment) => onMoment?.(columns, moment));
  await delay(forMs / 2);
  curve.enter(rehearsal.phase);
  const wrong = await rehearsal.happen({ installation, forMs, enter: curve.enter });
  curve.enter("healed");
  const healedAt = performance.now();
  await untilLittleWaits(curve.moments, perSecond);
  const caughtUpSeconds = (performance.now() - healedAt) / 1_000;
  await delay(Math.max(0, forMs / 2 - caughtUpSeconds * 1_000));
  for (const each of visitors) await each.stop();
  curve.enter("no more visitors");
  const verdict = await settle(installation, visitors);
  await curve.end();
  const answered = answeredBy(visitors);
  const { marks } = installation.receiver.at(hook);
  const report = {
    columns,
    moments: curve.moments,
    answered: answered.size,
    failed: new Map(visitors.flatMap(({ unanswered }) => [...unanswered])),
    delivered: answered.size - [...answered.missingFrom(marks)].length,
    caughtUpSeconds,
    verdict,
  };
  const problems = [
    ...problemsOf(report),
    ...wrong,
    ...rehearsal.check(duringPhase(curve.moments, rehearsal.phase)),
  ];
  const story = installation.apps.flatMap((app) => app.story.slice(-10));
  return { ...report, problems: problems.length === 0 ? [] : [...problems, ...story] };
}

/** Less than what comes in a moment. */
async function untilLittleWaits(moments: readonly Moment[], perSecond: number): Promise<void> {
  const littleClicks = Math.max(50, perSecond * 3);
  for (const deadline = performance.now() + settleMs; performance.now() < deadline; await delay(200)) {
    const last = moments.at(-1);
    if (last === undefined || last.phase !== "healed") continue;
    const waiting = [...last.values].filter(([name]) => name.startsWith("to store"));
    if (waiting.every(([, many]) => many !== undefined && many < littleClicks)) return;
  }
}

/** Waits until everything that was answered is stored, or was refused and is known to be, and is delivered. */
async function settle(installation: Installation, visitors: readonly Visitors[]): Promise<Verdict> {
  const { query, receiver } = installation;
  const answered = answeredBy(visitors);
  const { marks } = receiver.at(hook);
  for (
    const deadline = performance.now() + settleMs;
    performance.now() < deadline;
    await delay(settlePollMs)
  ) {
    const [known = "0\t0"] = await query(
      `SELECT uniqExact(event_id), (SELECT sum(to_seq - from_seq + 1) FROM click_refused_ranges FINAL) FROM click_events`,
    ).catch(() => []);
    const [stored = 0, refused = 0] = known.split("\t").map(Number);
    const undelivered = [...answered.missingFrom(marks)].length;
    if (stored + refused >= answered.size && undelivered <= refused) break;
  }
  return await judge({ store: "clickhouse", query }, answered, lastMs);
}

function problemsOf({ answered, failed, delivered, verdict }: Omit<Report, "problems">): string[] {
  const { missing, refused, holes, repeats, repeatsInView, deadLetters, merges } = verdict;
  const undelivered = answered - delivered;
  const found: [boolean, string][] = [
    [
      missing.length > refused,
      `${missing.length} clicks were answered and are not stored, ${refused} refused`,
    ],
    [undelivered > refused, `${undelivered} clicks were answered and not delivered, ${refused} refused`],
    [failed.size > 0, `visitors were not redirected: ${[...failed].join("; ")}`],
    [holes.length > 0, `numbers that nothing accounts for: ${holes.join("; ")}`],
    [repeats + repeatsInView > 0, `${repeats} rows are repeats, ${repeatsInView} of them in the view`],
    [deadLetters > 0, `${deadLetters} dead letters`],
    [merges > 0, `${merges} merges, which would have hidden repeats`],
  ];
  return found.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
}
