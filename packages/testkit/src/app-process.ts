import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// An app's `main.ts` as a process of its own, as a supervisor would start it.

export interface AppProcess extends AsyncDisposable {
  /** Lines of its log so far, parsed. */
  readonly lines: readonly LogLine[];
  /** Resolves with the first line, past or to come, whose message this is. Rejects when the process ends before. */
  said(message: string): Promise<LogLine>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit status; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Standard error so far. */
  stderr(): string;
  /** The body of `/readyz` and its status. */
  readiness(): Promise<{ status: number; body: string }>;
  /** The sum over all labels of a metric. */
  metric(name: string): Promise<number>;
}

export type LogLine = Readonly<Record<string, unknown>>;

/** Disposing ends it at once. */
export function startApp(main: URL, environment: Readonly<Record<string, string>>): AppProcess {
  const child = spawn(process.execPath, [fileURLToPath(main)], {
    env: { OPS_PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: LogLine[] = [];
  const arrived = new EventTarget();
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  createInterface(child.stdout).on("line", (text) => {
    const line: unknown = JSON.parse(text);
    if (typeof line === "object" && line !== null) lines.push(Object.fromEntries(Object.entries(line)));
    arrived.dispatchEvent(new Event("line"));
  });
  const ended = once(child, "close").then(() => child.exitCode);
  const gone = ended.then(() =>
    Promise.reject(new Error(`the app ended: ${stderr}${JSON.stringify(lines.at(-1))}`)),
  );
  gone.catch(() => {});

  async function said(message: string): Promise<LogLine> {
    for (;;) {
      const line = lines.find(({ msg }) => msg === message);
      if (line !== undefined) return line;
      await Promise.race([once(arrived, "line"), gone]);
    }
  }
  async function get(path: string): Promise<Response> {
    const { port } = await said("operations server listening");
    return await fetch(`http://127.0.0.1:${String(port)}${path}`);
  }

  return {
    lines,
    said,
    kill: (signal) => void child.kill(signal),
    ended,
    stderr: () => stderr,
    async readiness() {
      const response = await get("/readyz");
      return { status: response.status, body: await response.text() };
    },
    async metric(name) {
      const text = await (await get("/metrics")).text();
      const values = text
        .split("\n")
        .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
