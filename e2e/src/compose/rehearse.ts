import { setTimeout as delay } from "node:timers/promises";

import { startClicks } from "../clicks.ts";
import { startReceiver } from "../webhook-soak/receiver.ts";
import { judge } from "../verdict.ts";
import { problemsWithTls } from "./certificates.ts";
import { exposure, healthy, kill, until } from "./containers.ts";
import { type EdgeStart, measureEdgeStart } from "./edge-start.ts";
import { openProject, type Size } from "./project.ts";

const ofClicks = [
  "every answered click is stored",
  "no number of an edge is missing, nothing is seen twice and nothing is a dead letter",
  "the webhook endpoint is told of every answered click, under one id",
] as const;
const ofContainers =
  "no container runs as root, can write to our images, has a secret on its command line or listens beyond this host";
const ofCaddy = "Caddy has certificates for verified domains alone";

/** What has to hold, and is found out. */
export function promisesOf({ tls }: What): readonly string[] {
  return [...ofClicks, ofContainers, ...(tls ? [ofCaddy] : [])];
}

interface Report {
  readonly answered: number;
  readonly unanswered: number;
  readonly stored: number;
  readonly runs: number;
  readonly told: number;
  /** By service. */
  readonly memory: readonly string[];
  readonly upSeconds: number;
  readonly edgeStart: EdgeStart;
  /** By promise, what is wrong. */
  readonly findings: Readonly<Record<string, readonly string[]>>;
}

/** Little for a busy machine. */
const perSecond = 50;
/** Clicks; whatever was killed last, visitors do not have to wait for it unless it is the edge. */
const betweenKills = 50;
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

/** Starts everything, clicks, kills each container once, and counts; `say` is told how far it is. */
export async function rehearse(what: What, say: (line: string) => void): Promise<Report> {
  const services = containersOf(what);
  await using project = await openProject(what.size, what.tls);
  const from = performance.now();
  await project.compose("up", "--no-build", "--detach", ...services);
  for (const service of services) await healthy(project, service);
  const upSeconds = (performance.now() - from) / 1_000;
  say("up and healthy");
  const cli = (...words: string[]) => project.compose("run", "--rm", "-T", "cli", ...words);
  await cli("link", "create", "https://example.com/", "--slug=smoke");
  await using receiver = await startReceiver(undefined, await project.gateway());
  await cli("endpoint", "create", `${receiver.url}/hook`, "--bots", "--no-test");
  await cli("endpoint", "allow-private", "ep_1");
  await cli("endpoint", "test", "ep_1");

  await using clicks = startClicks({ port: project.edgePort, path: "/smoke", perSecond });
  const visits = async () => {
    const enough = clicks.answered.size + betweenKills;
    await until(`${betweenKills} visitors to be answered`, () => clicks.answered.size >= enough);
  };
  for (const service of services) {
    await visits();
    await kill(project, service);
    say(`killed ${service}: Docker has started it again`);
  }
  for (const service of services) await healthy(project, service);
  await visits();
  await clicks.stop();
  say("all are healthy again");

  const { answered, unanswered } = clicks;
  const verdict = await judge(project, answered, storedWithinMs);
  say("stored");
  const told = receiver.at("/hook");
  const untold = () => [...answered.missingFrom(told.marks)].length;
  for (const end = performance.now() + toldWithinMs; untold() > 0 && performance.now() < end;)
    await delay(500);
  say("told");
  // Caddy is for everybody, and needs to be root for the two lowest ports.
  const hidden = services.filter((service) => service !== "caddy");
  const exposed = await Promise.all(hidden.map((service) => exposure(project, service)));
  return {
    answered: answered.size,
    unanswered: [...unanswered.values()].reduce((sum, count) => sum + count, 0),
    stored: verdict.stored,
    runs: verdict.runs,
    told: answered.size - untold(),
    memory: await project.memory(await Promise.all(services.map((service) => project.container(service)))),
    upSeconds,
    edgeStart: await measureEdgeStart(project),
    findings: {
      [ofClicks[0]]: ifAny(verdict.missing.length, "are lost"),
      [ofClicks[1]]: [
        ...verdict.holes,
        ...ifAny(verdict.repeatsInView, "repeats can be seen"),
        ...ifAny(verdict.deadLetters, "dead letters"),
      ],
      [ofClicks[2]]: [...ifAny(untold(), "were not told"), ...ifAny(told.renamed, "were told under two ids")],
      [ofContainers]: exposed.flat(),
      ...(what.tls ? { [ofCaddy]: await problemsWithTls(project) } : {}),
    },
  };
}

function ifAny(count: number, what: string): string[] {
  return count > 0 ? [`${count} ${what}`] : [];
}

/** A line each. */
export function figures({ answered, unanswered, stored, runs, told, ...report }: Report): string[] {
  const { containerMs, processMs } = report.edgeStart;
  return [
    `up and healthy after  ${report.upSeconds.toFixed(0)}  s`,
    `edge, docker run to ready  ${containerMs.toFixed(0)}  ms`,
    `edge, start to ready  ${processMs.toFixed(0)}  ms  <= 1000  ${processMs <= 1_000 ? "met" : "missed"}`,
    `answered  ${answered}  clicks; ${unanswered} got no answer while the edge was away`,
    `stored  ${stored}  clicks of ${runs} runs`,
    `told  ${told}  clicks to a webhook endpoint`,
    ...report.memory.map((line) => `memory  ${line}`),
  ];
}
