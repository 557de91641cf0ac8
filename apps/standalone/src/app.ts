import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

import { appEnvironment } from "./config.ts";
import type { Running } from "./keep-running.ts";
import type { Output } from "./output.ts";

export interface App {
  readonly name: string;
  /** The file that Node runs. */
  readonly main: string;
  readonly env: Readonly<Record<string, string>>;
  /** How long it may go on after it was told to stop; its own time limit ends before. */
  readonly stopWithinMs: number;
}

/**
 * Runs an app as a child in a session of its own, so that the terminal's Ctrl-C does not reach it before the
 * supervisor has decided on the order. The channel between them tells the app, by closing, that its supervisor is
 * gone.
 */
export async function startApp({ name, main, env, stopWithinMs }: App, output: Output): Promise<Running> {
  const child = spawn(process.execPath, [main], {
    detached: true,
    env: appEnvironment(env),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const { pid } = child;
  if (pid === undefined) return new Promise((_resolve, reject) => child.once("error", reject));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  for (const stream of [child.stdout, child.stderr]) if (stream !== null) output.passOn(name, stream);
  /** Its group: with whatever it has started itself. */
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-pid, signal);
    } catch {
      // It has ended.
    }
  };
  return {
    pid,
    exited,
    kill,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const inTime = new AbortController();
      const late = delay(stopWithinMs, undefined, { signal: inTime.signal }).then(() => kill("SIGKILL"));
      await Promise.race([exited, late]);
      inTime.abort();
      await exited;
    },
  };
}
