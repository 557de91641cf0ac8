import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

import { inheritedEnvironment } from "./config.ts";
import { processesOf, send } from "./processes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const supervisor = [process.execPath, "apps/standalone/src/main.ts"];

export interface Ports {
  readonly edge: number;
  readonly edgeOps: number;
  readonly ingesterOps: number;
  readonly dispatcherOps: number;
  readonly clickhouse: number;
  readonly postgres: number;
}

export type StoreKind = "clickhouse" | "postgres";

/** What `npm start` runs, on free ports and in a directory of its own. Disposing kills what is left and removes it. */
export interface System extends AsyncDisposable {
  readonly dataDir: string;
  readonly ports: Ports;
  /** Where its clicks are stored. */
  readonly store: StoreKind;
  /** Everything that the supervisors have printed so far. */
  readonly output: readonly string[];
  /** Starts a supervisor. */
  start(): Supervisor;
  /** The rows of a query to the click store, columns separated by tabs. Rejects when it is away or refuses it. */
  query(statement: string): Promise<string[]>;
}

export interface Supervisor {
  readonly child: ChildProcess;
  /** Resolves when it says that everything is up; rejects with its output when it ends before, or takes too long. */
  readonly up: Promise<void>;
  /** Resolves when it has ended and all that it printed was read. */
  readonly ended: Promise<number | null>;
}

export interface SystemOptions {
  /** The command that starts it; `npm start` or, by default, what it runs. */
  readonly command?: readonly string[];
  /** ClickHouse by default. */
  readonly store?: StoreKind;
  readonly env?: Readonly<Record<string, string>>;
}

/** Long enough for the engine's first start on a busy machine. */
const startTimeoutMs = 90_000;

export async function createSystem({
  command = supervisor,
  store = "clickhouse",
  env = {},
}: SystemOptions = {}): Promise<System> {
  const temp = await tempDir();
  const dataDir = temp.path;
  const [edge = 0, edgeOps = 0, ingesterOps = 0, dispatcherOps = 0, clickhouse = 0, postgres = 0] =
    await freePorts(6);
  const output: string[] = [];
  const started: ChildProcess[] = [];

  function start(): Supervisor {
    const [file = "", ...args] = command;
    const child = spawn(file, args, {
      cwd: root,
      env: {
        ...inheritedEnvironment(),
        SLUICE_DATA_DIR: dataDir,
        EDGE_PORT: String(edge),
        EDGE_OPS_PORT: String(edgeOps),
        INGESTER_OPS_PORT: String(ingesterOps),
        DISPATCHER_OPS_PORT: String(dispatcherOps),
        CLICKHOUSE_PORT: String(clickhouse),
        POSTGRES_PORT: String(postgres),
        CLICK_STORE: store,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    started.push(child);
    const isUp = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        output.push(line);
        if (line.includes(`http://localhost:${edge}/demo`)) isUp.resolve();
      });
    }
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    const up = within(startTimeoutMs, isUp.promise, ended, () => output.slice(-40).join("\n"));
    // Whoever kills it on its way up does not wait for this.
    up.catch(() => {});
    return { child, up, ended };
  }

  return {
    dataDir,
    ports: { edge, edgeOps, ingesterOps, dispatcherOps, clickhouse, postgres },
    store,
    output,
    start,
    query: (statement) =>
      store === "postgres" ? askPostgres(dataDir, postgres, statement) : askClickHouse(clickhouse, statement),
    async [Symbol.asyncDispose]() {
      for (const child of started) child.kill("SIGKILL");
      for (const { pid } of await processesOf(dataDir)) send(pid, "SIGKILL");
      await temp[Symbol.asyncDispose]();
    },
  };
}

async function within(
  ms: number,
  isUp: Promise<void>,
  ended: Promise<unknown>,
  output: () => string,
): Promise<void> {
  const inTime = new AbortController();
  const outcome = await Promise.race([
    isUp.then(() => "up"),
    ended.then(() => "ended"),
    delay(ms, "late", { signal: inTime.signal }),
  ]);
  inTime.abort();
  if (outcome !== "up") throw new Error(`the supervisor was to be up and is ${outcome}:\n${output()}`);
}

async function askPostgres(dataDir: string, port: number, statement: string): Promise<string[]> {
  const password = await readFile(join(dataDir, "postgres/password"), "utf8");
  const rows = await queryPostgres(`postgres://sluice:${password}@127.0.0.1:${port}/clicks`, statement);
  return rows.map((row) => Object.values(row).join("\t"));
}

async function askClickHouse(port: number, statement: string): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    body: statement,
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text.split("\n").filter((row) => row !== "");
}

/**
 * Ports that nothing listens on now. Below the range from which the kernel takes the near end of connections
 * (32768 on Linux): a client that tries a dead server's port again and again would one day be connected to itself.
 */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port);
    const [outcome]: unknown[] = await Promise.race([
      once(server, "listening").then(() => ["free"]),
      once(server, "error").then(() => ["taken"]),
    ]);
    if (outcome !== "free") continue;
    server.close();
    await once(server, "close");
    ports.add(port);
  }
  return [...ports];
}
