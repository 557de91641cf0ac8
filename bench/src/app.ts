import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Bench } from "./benchmark.ts";
import { environmentOf } from "./config.ts";
import { onCore } from "./program.ts";

/** A service under test: the real process, as a supervisor would start it. Disposing stops it as one would. */
export interface App extends AsyncDisposable {
  readonly pid: number;
  /** The port that it has named in its log with this message. */
  portOf(message: string): Promise<number>;
  /** What it gives Prometheus. */
  metrics(): Promise<string>;
}

export interface AppOptions {
  readonly name: "edge-redirect" | "click-ingester" | "webhook-dispatcher";
  readonly env: Readonly<Record<string, string>>;
  /** All its threads go here; by default wherever the system puts them. */
  readonly core?: number | undefined;
}

/** On a busy machine; by itself an app takes a second. */
const startWithinMs = 60_000;
/** More than its own time limit for a drain. */
const stopWithinMs = 20_000;

/** Starts an app and resolves when it says that it is ready. Rejects with the end of its output when it does not. */
export async function startApp({ name, env, core }: AppOptions, bench: Bench): Promise<App> {
  const main = fileURLToPath(new URL(`../../apps/${name}/src/main.ts`, import.meta.url));
  const profile =
    bench.profileDir === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", join(bench.profileDir, name)];
  const [program = "", ...args] = onCore(core, [process.execPath, ...profile, main]);
  const child = spawn(program, args, {
    env: environmentOf({ OPS_PORT: "0", DRAIN_TIMEOUT_MS: "15000", ...env }),
    // By the channel's end the app learns that we were killed.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const output = follow(child);
  async function get(path: string): Promise<Response> {
    const port = await output.portOf("operations server listening");
    return await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(10_000) });
  }
  const app: App = {
    pid: child.pid ?? 0,
    portOf: (message) => output.portOf(message),
    async metrics() {
      return await (await get("/metrics")).text();
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const impatience = setTimeout(() => child.kill("SIGKILL"), stopWithinMs);
      await output.ended;
      clearTimeout(impatience);
    },
  };
  try {
    const deadline = AbortSignal.any([bench.signal, AbortSignal.timeout(startWithinMs)]);
    while (!(await isOk(get("/readyz")))) await delay(20, undefined, { signal: deadline });
    return app;
  } catch (error) {
    await app[Symbol.asyncDispose]();
    throw new Error(`${name} did not start: ${output.last()}`, { cause: error });
  }
}

async function isOk(response: Promise<Response>): Promise<boolean> {
  const { ok, body } = await response;
  await body?.cancel();
  return ok;
}

/** Reads what a child prints, and remembers the ports it names and its last lines. */
function follow(child: ChildProcess) {
  const ports = new Map<string, number>();
  const lines: string[] = [];
  const news = new EventEmitter();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on("line", (text) => {
      lines.push(text);
      if (lines.length > 20) lines.shift();
      const [, port, message = ""] = /"port":(\d+).*"msg":"([^"]*)"/.exec(text) ?? [];
      if (port === undefined) return;
      ports.set(message, Number(port));
      news.emit("port");
    });
  }
  let over = false;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      over = true;
      news.emit("port");
      resolve();
    };
    child.once("close", end).once("error", end);
  });
  return {
    ended,
    last: () => lines.join("\n"),
    async portOf(message: string): Promise<number> {
      for (;;) {
        const port = ports.get(message);
        if (port !== undefined) return port;
        if (over) throw new Error(`it ended before it said "${message}"`);
        await once(news, "port");
      }
    },
  };
}
