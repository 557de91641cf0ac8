import { startClicks } from "../clicks.ts";
import { judge, type Verdict } from "../verdict.ts";
import { exposure, healthy, kill } from "./containers.ts";
import { openProject, type Size } from "./project.ts";

interface Report {
  readonly answered: number;
  readonly unanswered: number;
  readonly verdict: Verdict;
  /** By service. */
  readonly memory: readonly string[];
  readonly upSeconds: number;
}

/** Enough for several batches between two kills, and little for a busy machine. */
const perSecond = 50;
/** For the slowest way of a click: a consumer's session that ended with its process, and a batch. */
const storedWithinMs = 120_000;

/** Those that run on; with stand-ins without those that there are none for. */
export function containersOf(size: Size, standIns: boolean): readonly string[] {
  const always = ["edge", "ingester", "dispatcher", "redis", "postgres"];
  if (size === "small") return always;
  return [...always, "redpanda", "clickhouse", ...(standIns ? [] : ["prometheus", "grafana"])];
}

export async function rehearse(size: Size, services: readonly string[], say: (line: string) => void) {
  await using project = await openProject(size);
  const from = performance.now();
  await project.compose("up", "--no-build", "--detach", ...services);
  for (const service of services) await healthy(project, service);
  const upSeconds = (performance.now() - from) / 1_000;
  await project.compose("run", "--rm", "-T", "cli", "link", "create", "https://example.com/", "--slug=smoke");

  await using clicks = startClicks({ port: project.edgePort, path: "/smoke", perSecond });
  for (const service of services) {
    await kill(project, service);
    say(`killed ${service}: Docker has started it again`);
  }
  for (const service of services) await healthy(project, service);
  await clicks.stop();

  const verdict = await judge(project, clicks.answered, storedWithinMs);
  const exposed = await Promise.all(services.map((service) => exposure(project, service)));
  const unanswered = [...clicks.unanswered.values()].reduce((sum, count) => sum + count, 0);
  const report: Report = {
    answered: clicks.answered.size,
    unanswered,
    verdict,
    memory: await project.memory(await Promise.all(services.map((service) => project.container(service)))),
    upSeconds,
  };
  return { report, problems: [...problemsOf(report), ...exposed.flat()] };
}

export function figures({ answered, unanswered, verdict, memory, upSeconds }: Report): string[] {
  return [
    `up and healthy after  ${upSeconds.toFixed(0)}  s`,
    `answered  ${answered}  clicks; ${unanswered} got no answer while the edge was away`,
    `stored  ${verdict.stored}  clicks of ${verdict.runs} runs`,
    ...memory.map((line) => `memory  ${line}`),
  ];
}

function problemsOf({ answered, verdict }: Report): string[] {
  const { missing, holes, repeatsInView, deadLetters } = verdict;
  return [
    ...(answered === 0 ? ["no click was answered"] : []),
    ...(missing.length > 0 ? [`${missing.length} answered clicks are lost`] : []),
    ...holes.map((hole) => `numbers are missing: ${hole}`),
    ...(repeatsInView > 0 ? [`${repeatsInView} repeats can be seen`] : []),
    ...(deadLetters > 0 ? [`${deadLetters} dead letters`] : []),
  ];
}
