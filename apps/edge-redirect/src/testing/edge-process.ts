import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** An edge as an operator runs it: a process of its own. */
export interface EdgeProcess extends AsyncDisposable {
  readonly pid: number;
  /** Where visitors are listened for. */
  readonly port: number;
  readonly opsPort: number;
  /** What it has written to standard output and error so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface EdgeOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Flags for Node. */
  readonly nodeArgs?: readonly string[];
  /** Wraps the command; "$@" in it is the command. */
  readonly shell?: string;
}

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const startWithinMs = 30_000;

/** Starts an edge on free ports; resolves when it listens for visitors. Disposing kills it. */
export async function startEdge(options: EdgeOptions): Promise<EdgeProcess> {
  const child = spawnEdge(options);
  const lines: string[] = [];
  const ports = new Map<string, number>();
  const listening = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on("line", (line) => {
      lines.push(line);
      const { msg, port } = fieldsOf(line);
      // Of several processes the supervisor's comes first.
      if (typeof msg === "string" && typeof port === "number" && !ports.has(msg)) ports.set(msg, port);
      if (msg === "listening for visitors") listening.resolve();
    });
  }
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  const tooLong = setTimeout(
    () => listening.reject(new Error(`not up in time:\n${lines.join("\n")}`)),
    startWithinMs,
  );
  const ended = exited.then(() => listening.reject(new Error(`ended at its start:\n${lines.join("\n")}`)));
  try {
    await Promise.race([listening.promise, ended]);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(tooLong);
  }
  return {
    pid: child.pid ?? 0,
    port: ports.get("listening for visitors") ?? 0,
    opsPort: ports.get("operations server listening") ?? 0,
    output: () => lines.join("\n"),
    kill: (signal) => void child.kill(signal),
    exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** The output and the exit status of an edge that is expected to end by itself. */
export async function runEdge(options: EdgeOptions): Promise<{ code: number | null; output: string }> {
  const child = spawnEdge(options);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (data: Buffer) => (output += data.toString()));
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, output }));
  });
}

function spawnEdge({ env, nodeArgs = [], shell }: EdgeOptions): ChildProcess {
  const command = [process.execPath, ...nodeArgs, main];
  const [program = "", ...args] = shell === undefined ? command : ["sh", "-c", shell, "sh", ...command];
  return spawn(program, args, {
    env: {
      PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
      HOST: "127.0.0.1",
      PORT: "0",
      OPS_PORT: "0",
      DRAIN_NOTICE_MS: "0",
      ...env,
    },
    // The channel ends the edge with the test, whatever becomes of that.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

function fieldsOf(line: string): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === "object" && fields !== null ? { ...fields } : {};
  } catch {
    return {};
  }
}
