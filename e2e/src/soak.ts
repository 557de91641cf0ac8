// The tests that take as long as one has patience for. Exit status 0 when all is well.
// `npm run soak -- --kills 200 --clicks 2000000 [--log journal|kafka|redis] [--store clickhouse|postgres] [--rate 2000]`:
// every answered click is stored once, whatever is killed.
// `npm run soak -- --edge-fuzz [--requests 1000000]`: an edge answers whatever it is sent.
// `npm run soak -- --keep-alive [--requests 100000]`: nginx never asks on a connection that the edge is closing.
// `npm run soak -- --faults 1000 [--log kafka] [--rate 500]`: every kind of fault between the log and the table.
// `npm run soak -- --outage 30 [--rate 2000]`: ClickHouse is away for so many minutes, and nothing is lost.
// `npm run soak -- --webhooks [--kills 100] [--log kafka]`: every answered click reaches every endpoint, and a pixel once.
// All take `--seed`.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

import { openBroker } from "./broker.ts";
import { faultProblems, soakFaults } from "./fault-soak.ts";
import { fuzzEdge, fuzzProblems, type FuzzReport } from "./edge-fuzz.ts";
import { openRace, raceKeepAlive } from "./keep-alive.ts";
import { ordeal, problems, type Report } from "./ordeal.ts";
import { liveThroughOutage, outageProblems } from "./outage.ts";
import { soakWebhooks, webhookProblems } from "./webhook-soak.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string" },
    clicks: { type: "string", default: "2000000" },
    log: { type: "string", default: "journal" },
    store: { type: "string", default: "clickhouse" },
    rate: { type: "string", default: "2000" },
    faults: { type: "string" },
    outage: { type: "string" },
    webhooks: { type: "boolean", default: false },
    "edge-fuzz": { type: "boolean", default: false },
    "keep-alive": { type: "boolean", default: false },
    requests: { type: "string" },
    seed: { type: "string", default: String(randomInt(1_000_000)) },
  },
});
const seed = count("seed", values.seed);
const run = values["edge-fuzz"]
  ? fuzz
  : values["keep-alive"]
    ? race
    : values.faults !== undefined
      ? fault
      : values.outage !== undefined
        ? outage
        : values.webhooks
          ? webhooks
          : kill;
const found = await run();
console.log(found.length === 0 ? "all is well" : found.join("\n"));
process.exitCode = found.length === 0 ? 0 : 1;

async function fuzz(): Promise<string[]> {
  const requests = count("requests", values.requests ?? "1000000");
  console.log(`seed ${seed}: ${requests} requests that no client should send`);
  const report = await fuzzEdge({ requests, seed });
  printFuzz(report);
  return fuzzProblems(report);
}

async function race(): Promise<string[]> {
  const requests = count("requests", values.requests ?? "100000");
  console.log(
    `seed ${seed}: ${requests} requests through nginx, after pauses around its limit and the edge's`,
  );
  await using nginx = await openRace();
  const outcomes = await raceKeepAlive(nginx.port, { requests, seed });
  printLines([["answers", perKind(outcomes)]]);
  return [...outcomes.keys()].filter((outcome) => outcome !== "302").map((outcome) => `some got ${outcome}`);
}

async function kill(): Promise<string[]> {
  const kills = count("kills", values.kills ?? "200");
  const clicks = count("clicks", values.clicks);
  const perSecond = count("rate", values.rate);
  const { store } = values;
  const log = logIn(values.log);
  if (store !== "clickhouse" && store !== "postgres") throw new Error("--store takes clickhouse or postgres");
  console.log(`seed ${seed}: ${kills} kills over ${clicks} clicks at ${perSecond}/s, ${log} and ${store}`);
  await using resources = new AsyncDisposableStack();
  const report = await ordeal({
    ...(log !== "journal" && { broker: resources.use(await openBroker(log)) }),
    store,
    seed,
    kills,
    clicks,
    perSecond,
    // Spread over the whole time that the clicks take.
    meanPauseMs: (clicks / perSecond / kills) * 1000,
  });
  print(report);
  return problems(report);
}

async function webhooks(): Promise<string[]> {
  const kills = count("kills", values.kills ?? "20");
  const log = logIn(values.log);
  console.log(`seed ${seed}: ${kills} kills while clicks become webhooks, ${log}`);
  await using resources = new AsyncDisposableStack();
  const report = await soakWebhooks({
    ...(log !== "journal" && { broker: resources.use(await openBroker(log)) }),
    seed,
    kills,
    // What two cores deliver beside all that is started again.
    perSecond: 100,
    meanPauseMs: 2_500,
  });
  printLines([
    ["answered", report.answered],
    ["without an answer", perKind(report.unanswered)],
    ...[...report.targets].map(([path, { delivered, missing, repeats, renamed }]): [string, string] => [
      path,
      `delivered ${delivered}  missing ${missing.length}  repeats ${repeats}  under two ids ${renamed}`,
    ]),
    ["still waiting", report.waiting],
    ["dead", report.dead],
    ["receiver", perKind(report.moods)],
    ["kills", perKind(report.kills)],
    ["seconds", Math.round(report.seconds)],
  ]);
  return webhookProblems(report);
}

async function fault(): Promise<string[]> {
  const faults = count("faults", values.faults ?? "");
  console.log(`seed ${seed}: ${faults} faults between the log (${values.log}) and the table`);
  await using resources = new AsyncDisposableStack();
  const broker = values.log === "kafka" ? resources.use(await openBroker("kafka")) : undefined;
  const report = await soakFaults({
    ...(broker && { logUrl: broker.url, ingesters: 2 }),
    faults,
    seed,
    perSecond: 500,
    meanPauseMs: 500,
  });
  printLines([
    ["answered", report.answered],
    ["stored", report.stored],
    ["dead letters", report.setAside],
    ["repeats, no FINAL", report.repeats],
    ["repeats in view", report.repeatsInView],
    ["holes", report.holes.join("; ") || 0],
    ["faults", perKind(report.faults)],
    ["ingesters ended", report.ends],
    ["memory at most", mebibytes(report.peakBytes)],
    ["seconds", Math.round(report.seconds)],
  ]);
  return faultProblems(report);
}

async function outage(): Promise<string[]> {
  const minutes = count("outage", values.outage ?? "");
  const perSecond = count("rate", values.rate);
  console.log(`ClickHouse is away for ${minutes} min at ${perSecond} clicks/s`);
  const report = await liveThroughOutage({
    awayMs: minutes * 60_000,
    perSecond,
    onMoment: ({ seconds, backlog, oldestUnflushedSeconds, peakBytes }) =>
      printLines([
        [
          `${Math.round(seconds)} s`,
          `backlog ${backlog}, oldest unflushed ${Math.round(oldestUnflushedSeconds)} s, ${mebibytes(peakBytes)}`,
        ],
      ]),
  });
  printLines([
    ["answered", report.answered],
    ["stored", report.stored],
    ["repeats", report.repeats],
    ["most backlog", report.mostBacklog],
    ["memory at most", mebibytes(report.peakBytes)],
    ["catch-up seconds", report.catchUpSeconds.toFixed(1)],
  ]);
  return outageProblems(report);
}

function print(result: Report): void {
  printLines([
    ["answered", result.answered],
    ["without an answer", perKind(result.unanswered)],
    ["stored", result.stored],
    [
      "missing",
      result.missing.length === 0 ? 0 : `${result.missing.length}: ${result.missing.slice(0, 20).join()} …`,
    ],
    ["repeats, no FINAL", result.repeats],
    ["repeats in view", result.repeatsInView],
    ["holes", result.holes.length === 0 ? 0 : result.holes.join("; ")],
    ["refused numbers", result.refused],
    ["runs of the edge", result.runs],
    ["dead letters", result.deadLetters],
    ["merges", result.merges],
    ["kills", perKind(result.kills)],
    ["seconds", Math.round(result.seconds)],
    ["exit code", result.exitCode],
    ["left over", result.leftOver.join("; ") || 0],
  ]);
}

function printFuzz(result: FuzzReport): void {
  printLines([
    ["requests", result.sent],
    ["connections", result.connections],
    ["requests/s", Math.round(result.sent / result.seconds)],
    ["answers", perKind(new Map([...result.statuses].map(([status, many]) => [String(status), many])))],
    ["memory at start", mebibytes(result.startBytes)],
    ["memory at most", mebibytes(result.peakBytes)],
    ["good visitor", `${result.answered} answered, without an answer ${perKind(result.unanswered)}`],
    ["not stored", result.missing],
    ["seconds", Math.round(result.seconds)],
  ]);
}

function printLines(lines: readonly [string, unknown][]): void {
  for (const [name, value] of lines) console.log(`${name.padEnd(18)} ${String(value)}`);
}

function perKind(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
  return `${total}${[...counts].map(([kind, many]) => `  ${kind} ${many}`).join("")}`;
}

function logIn(log: string): "journal" | "kafka" | "redis" {
  if (log !== "journal" && log !== "kafka" && log !== "redis")
    throw new Error("--log takes journal, kafka or redis");
  return log;
}

function count(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} takes a whole number from 1, not ${text}`);
  return Number(text);
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
