import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { inheritedEnvironment } from "./config.ts";

export interface KeptApp extends AsyncDisposable {
  /** Ends the one that runs now, as a service manager does, and starts none until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** To the one that runs now. Returns whether there was one. */
  kill(signal: NodeJS.Signals): boolean;
  /** Of the one that runs now. */
  readonly pid: () => number | undefined;
  /** Of its operations server; undefined until it listens. */
  readonly port: () => number | undefined;
  /** The most memory that the one that runs now has had at once; 0 while none does. */
  peakBytes(): Promise<number>;
  /** The memory that it has now; 0 while none runs. */
  residentBytes(): Promise<number>;
  /** The sum over all labels of a metric; undefined while nobody answers. */
  metric(name: string): Promise<number | undefined>;
  /** The last of what they have printed. */
  readonly story: readonly string[];
  /** How often one has ended. */
  readonly ends: () => number;
  /** Of those that have ended, their exit statuses; null for one that was killed. */
  readonly statuses: readonly (number | null)[];
}

/** Runs an app, and another whenever it ends. `shell` wraps the command, which is "$@" in it. */
export function keepApp(
  name: string,
  environment: Readonly<Record<string, string>>,
  shell = 'exec "$@"',
): KeptApp {
  const main = fileURLToPath(new URL(`../../apps/${name}/src/main.ts`, import.meta.url));
  const story: string[] = [];
  let kept = true;
  const statuses: (number | null)[] = [];
  let port: number | undefined;
  let child = begin();

  function begin(): ChildProcess {
    port = undefined;
    const started = spawn("sh", ["-c", shell, "sh", process.execPath, main], {
      env: { ...inheritedEnvironment(), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [started.stdout, started.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        story.push(line);
        if (story.length > 200) story.shift();
        const said = /"port":(\d+).*operations server listening/.exec(line);
        if (said !== null) port = Number(said[1]);
      });
    started.once("close", (status: number | null) => {
      statuses.push(status);
      if (kept) child = begin();
    });
    return started;
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    kept = false;
    const last = child;
    if (last.exitCode !== null || last.signalCode !== null) return;
    last.kill(signal);
    await once(last, "close");
  }

  return {
    pause: () => end("SIGTERM"),
    resume() {
      kept = true;
      child = begin();
    },
    story,
    ends: () => statuses.length,
    statuses,
    kill: (signal) => child.kill(signal),
    pid: () => child.pid,
    port: () => port,
    peakBytes: () => memoryOf(child, "VmHWM"),
    residentBytes: () => memoryOf(child, "VmRSS"),
    metric: async (wanted) => (port === undefined ? undefined : await sumOf(port, wanted)),
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
    },
  };
}

async function memoryOf({ pid }: ChildProcess, kind: "VmHWM" | "VmRSS"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1_024;
}

async function sumOf(port: number, metric: string): Promise<number | undefined> {
  const signal = AbortSignal.timeout(2_000);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).catch(() => undefined);
  const text = (await answer?.text().catch(() => undefined)) ?? "";
  const values = text
    .split("\n")
    .filter((line) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`));
  if (values.length === 0) return undefined;
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
