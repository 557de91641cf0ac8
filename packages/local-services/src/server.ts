import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Log } from "@sluice/service/log.ts";

import { LocalServiceError } from "./error.ts";
import { commandLine, isAlive, signalProcess, waitUntilGone } from "./process-table.ts";

/**
 * A server that this process started; this process does not end by itself while it runs. Disposing stops it cleanly;
 * the data directory stays.
 */
export interface LocalServer extends AsyncDisposable {
  /** Where clients connect; holds the password where there is one. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process is gone, whoever ended it. Never rejects. */
  readonly exited: Promise<void>;
  /** Sends a signal without waiting for what comes of it; does nothing once the process is gone. */
  readonly kill: (signal: NodeJS.Signals) => void;
}

export interface Launch {
  /** What people call it; also the name of its files in the data directory. */
  readonly name: string;
  /** Absolute. The command line must contain it: that is how a leftover is told from a stranger. */
  readonly dataDir: string;
  readonly command: readonly string[];
  readonly port: number;
  readonly url: string;
  /** Resolves when the server answers; rejects when it does not yet. Called until it resolves. */
  readonly ready: (signal: AbortSignal) => Promise<unknown>;
  readonly startWithinMs: number;
  readonly stopSignal: NodeJS.Signals;
  readonly stopWithinMs: number;
  readonly log: Log;
}

/**
 * Starts a server in a process group of its own, so that Ctrl-C in a terminal reaches its supervisor only, and
 * resolves when it is ready. Rejects with a LocalServiceError `start` that carries the end of the server's own log.
 */
export async function launch(options: Launch): Promise<LocalServer> {
  const { name, log, port, url } = options;
  const started = performance.now();
  const { pid, exited, kill, stop } = spawnServer(options);
  const deadline = AbortSignal.timeout(options.startWithinMs);
  let ended = false;
  const end = exited.then(() => (ended = true));
  for (let ready = false; !ready;) {
    try {
      await Promise.race([options.ready(deadline), end]);
      ready = !ended;
    } catch (cause) {
      if (deadline.aborted) {
        await stop();
        const why = `${name} was not ready within ${options.startWithinMs} ms`;
        throw new LocalServiceError("start", await withLog(why, options), { cause });
      }
      await Promise.race([delay(20), end]);
    }
    if (ended) throw new LocalServiceError("start", await withLog(`${name} ended while starting`, options));
  }
  const startedInMs = Math.round(performance.now() - started);
  log.info({ service: name, pid, port, startedInMs }, "server started");
  return {
    url,
    port,
    pid,
    exited,
    kill,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(pidPath(options), { force: true });
    },
  };
}

function spawnServer(
  options: Launch,
): Pick<LocalServer, "pid" | "exited" | "kill"> & { readonly stop: () => Promise<void> } {
  const { name, dataDir, log } = options;
  // Truncated at each start: it explains this run, and must not grow for ever.
  const output = openSync(logPath(options), "w", 0o600);
  // The shell notes its own process id and becomes the server: a supervisor killed right after the spawn leaves no
  // server that the next start cannot find.
  const note = 'echo "$$ $1" > "$0" && shift && exec "$@"';
  const child = spawn("sh", ["-c", note, pidPath(options), `${process.pid}`, ...options.command], {
    detached: true,
    stdio: ["ignore", output, output],
    cwd: dataDir,
  });
  closeSync(output);
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  let gone = false;
  const leave = () => {
    gone = true;
    resolve();
  };
  child.once("exit", leave).once("error", leave);
  const { pid } = child;
  if (pid === undefined) throw new LocalServiceError("start", `${name}: sh cannot be started`);
  const kill = (signal: NodeJS.Signals) => {
    if (!gone) child.kill(signal);
  };
  return {
    pid,
    exited,
    kill,
    stop: async () => {
      if (gone) return;
      kill(options.stopSignal);
      const impatience = setTimeout(() => {
        log.warn({ service: name, pid }, "server did not stop in time and is killed");
        kill("SIGKILL");
      }, options.stopWithinMs);
      await exited;
      clearTimeout(impatience);
    },
  };
}

/**
 * Makes sure that no earlier server runs on this data directory. One whose supervisor is gone is stopped, with
 * `stopSignal` first; one whose supervisor lives is an error `in-use`.
 */
export async function stopLeftover(
  options: Pick<Launch, "name" | "dataDir" | "stopSignal" | "stopWithinMs" | "log">,
): Promise<void> {
  const { name, dataDir, log } = options;
  const leftover = findServer(name, dataDir);
  if (leftover === undefined) return;
  const { pid, owner } = leftover;
  if (isAlive(owner)) {
    throw new LocalServiceError(
      "in-use",
      `${dataDir} is in use: ${name} (process ${pid}), started by process ${owner}`,
    );
  }
  log.warn({ service: name, pid }, "stopping a server that a killed supervisor left over");
  signalProcess(pid, options.stopSignal);
  if (await waitUntilGone(pid, options.stopWithinMs)) return;
  signalProcess(pid, "SIGKILL");
  if (!(await waitUntilGone(pid, 10_000))) {
    throw new LocalServiceError("in-use", `${name} (process ${pid}) on ${dataDir} cannot be stopped`);
  }
}

/** The server now running on a data directory, or undefined. The id alone proves nothing: ids are used again. */
export function findServer(name: string, dataDir: string): { pid: number; owner: number } | undefined {
  let content: string;
  try {
    content = readFileSync(pidPath({ name, dataDir }), "utf8");
  } catch {
    return undefined;
  }
  const [pid = 0, owner = 0] = content.split(" ").map(Number);
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  return commandLine(pid).includes(dataDir) ? { pid, owner } : undefined;
}

function pidPath({ name, dataDir }: Pick<Launch, "name" | "dataDir">): string {
  return join(dataDir, `${name}.pid`);
}

function logPath({ name, dataDir }: Pick<Launch, "name" | "dataDir">): string {
  return join(dataDir, `${name}.log`);
}

async function withLog(why: string, server: Pick<Launch, "name" | "dataDir">): Promise<string> {
  const maxBytes = 2_000;
  const path = logPath(server);
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(maxBytes),
    0,
    maxBytes,
    Math.max(0, size - maxBytes),
  );
  return `${why}; its log ${path} ends:\n${buffer.toString("utf8", 0, bytesRead)}`;
}
