import { setTimeout as delay } from "node:timers/promises";

import { startClicks } from "../clicks.ts";
import { startReceiver } from "../webhook-soak/receiver.ts";
import { judge, type Verdict } from "../verdict.ts";
import { problemsWithTls } from "./certificates.ts";
import { edgeStartMs, exposure, healthy, kill } from "./containers.ts";
import { openProject, type Size } from "./project.ts";

interface Report {
  readonly answered: number;
  readonly unanswered: number;
  /** Answered clicks that the endpoint was not told of. */
  readonly untold: number;
  /** Clicks that it was told of under two ids. */
  readonly renamed: number;
  readonly verdict: Verdict;
  /** By service. */
  readonly memory: readonly string[];
  readonly upSeconds: number;
  readonly edgeStartMs: number;
}

/** Enough for several batches between two kills, and little for a busy machine. */
const perSecond = 50;
/** For the slowest way of a click: a consumer's session that ended with its process, and a batch. */
const storedWithinMs = 120_000;
/** Beyond that, a lease that ended with its dispatcher, and a breaker. */
const toldWithinMs = 240_000;

export interface What {
  readonly size: Size;
  /** With Caddy in front. */
  readonly tls: boolean;
  /** Without Grafana, in whose place nothing stands. */
  readonly standIns: boolean;
}

/** Those that run on. */
function containersOf({ size, tls, standIns }: What): readonly string[] {
  const always = ["edge", "ingester", "dispatcher", "redis", "postgres", ...(tls ? ["caddy"] : [])];
  if (size === "small") return always;
  return [...always, "redpanda", "clickhouse", "prometheus", ...(standIns ? [] : ["grafana"])];
}

/** Starts everything, clicks, kills each container once, and counts; `say` is told of each kill. */
export async function rehearse(what: What, say: (line: string) => void) {
  const services = containersOf(what);
  await using project = await openProject(what.size, what.tls);
  const from = performance.now();
  await project.compose("up", "--no-build", "--detach", ...services);
  for (const service of services) await healthy(project, service);
  const upSeconds = (performance.now() - from) / 1_000;
  const cli = (...words: string[]) => project.compose("run", "--rm", "-T", "cli", ...words);
  await cli("link", "create", "https://example.com/", "--slug=smoke");
  await using receiver = await startReceiver(undefined, await project.gateway());
  await cli("endpoint", "create", `${receiver.url}/hook`, "--bots", "--no-test");
  await cli("endpoint", "allow-private", "ep_1");
  await cli("endpoint", "test", "ep_1");

  await using clicks = startClicks({ port: project.edgePort, path: "/smoke", perSecond });
  for (const service of services) {
    await kill(project, service);
    say(`killed ${service}: Docker has started it again`);
  }
  for (const service of services) await healthy(project, service);
  await clicks.stop();

  const verdict = await judge(project, clicks.answered, storedWithinMs);
  const told = receiver.at("/hook");
  const untold = () => [...clicks.answered.missingFrom(told.marks)].length;
  for (const end = performance.now() + toldWithinMs; untold() > 0 && performance.now() < end;)
    await delay(500);
  const tlsProblems = what.tls ? await problemsWithTls(project) : [];
  // Caddy is for everybody, and needs to be root for the two lowest ports.
  const hidden = services.filter((service) => service !== "caddy");
  const exposed = await Promise.all(hidden.map((service) => exposure(project, service)));
  const unanswered = [...clicks.unanswered.values()].reduce((sum, count) => sum + count, 0);
  const report: Report = {
    answered: clicks.answered.size,
    unanswered,
    untold: untold(),
    renamed: told.renamed,
    verdict,
    memory: await project.memory(await Promise.all(services.map((service) => project.container(service)))),
    upSeconds,
    edgeStartMs: await edgeStartMs(project),
  };
  return { report, problems: [...problemsOf(report), ...tlsProblems, ...exposed.flat()] };
}

export function figures({
  answered,
  unanswered,
  untold,
  verdict,
  memory,
  upSeconds,
  ...report
}: Report): string[] {
  return [
    `up and healthy after  ${upSeconds.toFixed(0)}  s`,
    `edge start to ready  ${report.edgeStartMs}  ms  <= 1000  ${report.edgeStartMs <= 1_000 ? "met" : "missed"}`,
    `answered  ${answered}  clicks; ${unanswered} got no answer while the edge was away`,
    `stored  ${verdict.stored}  clicks of ${verdict.runs} runs`,
    `told  ${answered - untold}  clicks to a webhook endpoint`,
    ...memory.map((line) => `memory  ${line}`),
  ];
}

function problemsOf({ answered, untold, renamed, verdict }: Report): string[] {
  const { missing, holes, repeatsInView, deadLetters } = verdict;
  return [
    ...(answered === 0 ? ["no click was answered"] : []),
    ...(missing.length > 0 ? [`${missing.length} answered clicks are lost`] : []),
    ...(untold > 0 ? [`${untold} answered clicks were not told to the endpoint`] : []),
    ...(renamed > 0 ? [`${renamed} clicks were told under two ids`] : []),
    ...holes.map((hole) => `numbers are missing: ${hole}`),
    ...(repeatsInView > 0 ? [`${repeatsInView} repeats can be seen`] : []),
    ...(deadLetters > 0 ? [`${deadLetters} dead letters`] : []),
  ];
}
