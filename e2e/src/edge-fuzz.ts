import { readFile } from "node:fs/promises";

import { seeded } from "@sluice/testkit/seed.ts";

import { startClicks } from "./clicks.ts";
import { type Barrage, startBarrage } from "./fuzz/barrage.ts";
import { listenerOn } from "./processes.ts";
import { createSystem } from "./system.ts";
import { judge } from "./verdict.ts";

export interface FuzzReport extends Barrage {
  readonly seconds: number;
  /** The most that the edge has taken, in bytes; it began with `startBytes`. */
  readonly peakBytes: number;
  readonly startBytes: number;
  /** Of a visitor who came all the while. */
  readonly answered: number;
  readonly unanswered: ReadonlyMap<string, number>;
  /** How many of these clicks are not stored. */
  readonly missing: number;
  /** Whether it is another process than at the beginning. */
  readonly restarted: boolean;
  /** For whoever has to find out what went wrong. */
  readonly story: string;
}

/** A small cache, so that memory that grows with what strangers send shows; and what they say of others is read. */
const env = { EDGE_CACHE_BYTES: "16MiB", TRUSTED_PROXIES: "loopback" };
const perSecond = 50;
/** A busy edge's heap grows by some 200 MB before Node sees a reason to clear it up, and then stays so. */
const mostGrowthBytes = 350 * 1024 ** 2;
const settleMs = 60_000;

/** Sends an edge with all that belongs to it what no client should, while a visitor clicks. */
export async function fuzzEdge({ requests, seed }: { requests: number; seed: number }): Promise<FuzzReport> {
  await using system = await createSystem({ env });
  const supervisor = system.start();
  await supervisor.up;
  const { edge } = system.ports;
  const pid = await listenerOn(edge);
  const startBytes = await peakOf(pid);
  await using clicks = startClicks({ port: edge, path: "/demo", perSecond });
  const startedAt = performance.now();
  const barrage = await startBarrage(edge, { requests, random: seeded(seed) });
  const seconds = (performance.now() - startedAt) / 1000;
  await clicks.stop();
  const restarted = (await listenerOn(edge)) !== pid;
  const peakBytes = restarted ? Number.NaN : await peakOf(pid);
  const { missing } = await judge(system, clicks.answered, settleMs);
  supervisor.child.kill("SIGTERM");
  await supervisor.ended;
  return {
    ...barrage,
    seconds,
    peakBytes,
    startBytes,
    answered: clicks.answered.size,
    unanswered: clicks.unanswered,
    missing: missing.length,
    restarted,
    story: [`seed ${seed}`, ...system.output.slice(-100)].join("\n"),
  };
}

/** What a report has that it must not have, and its story at the end; empty when all is well. */
export function fuzzProblems(report: FuzzReport): string[] {
  const serverErrors = [...report.statuses].filter(([status]) => status >= 500);
  const unanswered = [...report.unanswered].map(([what, many]) => `${many} ${what}`);
  const grown = report.peakBytes - report.startBytes;
  const found: [boolean, string][] = [
    [report.restarted, "the edge died"],
    [report.refused > 0, `${report.refused} connections were not taken`],
    [serverErrors.length > 0, `answers that are the server's fault: ${serverErrors.join("; ")}`],
    [grown > mostGrowthBytes, `the edge took ${grown} bytes more than at its start`],
    [report.statuses.get(302) === undefined, "no redirect among the answers: nothing was tested"],
    [unanswered.length > 0, `clicks of the good visitor without an answer: ${unanswered.join("; ")}`],
    [report.missing > 0, `${report.missing} clicks of the good visitor are not stored`],
  ];
  const said = found.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
  return said.length === 0 ? [] : [...said, report.story];
}

/** The most memory that a process has taken so far, in bytes. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
