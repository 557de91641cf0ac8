import { setTimeout as delay } from "node:timers/promises";

import type { Project } from "./project.ts";

const starts = 7;
/** For one start on a busy machine. */
const patienceMs = 60_000;
const opsPort = 9101;

export interface EdgeStart {
  /** From the call of `docker run` until `/readyz` says 200, in milliseconds: the median. */
  readonly containerMs: number;
  /** The part of it after Docker has started the process. */
  readonly processMs: number;
}

/**
 * Starts further edges beside the one that runs, one after the other, from its image and with its variables: on a root
 * that they cannot write to and with an empty journal, so that each looks for Postgres before it is ready.
 */
export async function measureEdgeStart(project: Project): Promise<EdgeStart> {
  const edge = await project.container("edge");
  const image = await project.inspect(edge, "{{.Image}}");
  const network = await project.inspect(
    edge,
    "{{range $name, $_ := .NetworkSettings.Networks}}{{println $name}}{{end}}",
  );
  const variables = (await project.inspect(edge, "{{range .Config.Env}}{{println .}}{{end}}")).split("\n");
  const defaultNetwork = network.split("\n").find((name) => name.endsWith("_default")) ?? "";
  const args = [
    "--detach",
    "--rm",
    "--read-only",
    "--tmpfs=/data:uid=1000",
    `--network=${defaultNetwork}`,
    ...variables.filter((variable) => variable !== "").flatMap((variable) => ["--env", variable]),
    image,
  ];
  const took = [];
  for (let turn = 0; turn < starts; turn += 1) took.push(await start(project, args));
  return {
    containerMs: median(took.map((each) => each.containerMs)),
    processMs: median(took.map((each) => each.processMs)),
  };
}

async function start(project: Project, args: readonly string[]): Promise<EdgeStart> {
  const from = Date.now();
  const id = await project.docker("run", ...args);
  try {
    const template = "{{.State.StartedAt}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
    const [startedAt = "", address = ""] = (await project.inspect(id, template)).split(" ");
    while (!(await isReady(address))) {
      if (Date.now() > from + patienceMs)
        throw new Error(`an edge was not ready after ${patienceMs / 1_000} s`);
      await delay(5);
    }
    const at = Date.now();
    return { containerMs: at - from, processMs: at - Date.parse(startedAt) };
  } finally {
    await project.docker("kill", id);
  }
}

async function isReady(address: string): Promise<boolean> {
  const signal = AbortSignal.timeout(1_000);
  return await fetch(`http://${address}:${opsPort}/readyz`, { signal }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
