import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { listen } from "./listen.ts";
import type { Mode } from "./run-service.fixture.ts";

const fixture = fileURLToPath(new URL("run-service.fixture.ts", import.meta.url));
let directory = "";
const children = new Set<ChildProcess>();
const cleanEnd = ["finish", "close second", "close first", "exit 0"];
let diaries = 0;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-service-"));
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});
afterAll(() => rmSync(directory, { recursive: true }));

describe("configuration", () => {
  test("every problem is said at once: the variable, what it takes, what it got; secrets and passwords hidden", async () => {
    const service = start("wait", {
      DIARY: "",
      A_PORT: "65536",
      A_NUMBER: "eleven",
      A_URL: "redis://me:hunter2@host/0",
      A_SECRET: "hunter2",
      LOG_LEVEL: "loud",
      DRAIN_TIMEOUT_MS: "0",
    });
    expect(await service.ended()).toBe(78);
    expect(service.stderr().trimEnd().split("\n")).toEqual([
      "fixture: 7 problems in the configuration",
      "  DIARY takes text, 1 to 4096 characters, got nothing",
      '  A_PORT takes a port, 0 to 65535, got "65536"',
      '  A_NUMBER takes a whole number, 0 to 10, got "eleven"',
      '  A_URL takes a URL kafka:, memory:, got "redis://me:***@host/0"',
      "  A_SECRET takes a secret of 8 or more characters, got *** (7 characters)",
      '  LOG_LEVEL takes one of debug, info, warn, error, got "loud"',
      '  DRAIN_TIMEOUT_MS takes milliseconds, 1 or more, got "0"',
    ]);
  });

  test("a setting found wrong while starting ends with the same status, and closes what was open", async () => {
    const service = start("wrong setting found late");
    expect(await service.ended()).toBe(78);
    expect(service.failures()).toEqual([["the service failed", "DIARY is of a newer version"]]);
    expect(service.diary()).toEqual(["open first", "open second", "close second", "close first", "exit 78"]);
  });

  test("an operations port in use is named with its variable, before anything is opened", async () => {
    const taken = createServer();
    const port = await listen(taken, { host: "127.0.0.1", port: 0, variable: "TEST" });
    const service = start("wait", { OPS_PORT: String(port) });
    expect(await service.ended()).toBe(1);
    expect(service.failures()).toEqual([
      [
        "the service failed",
        `OPS_PORT=${port} on 127.0.0.1: the port is in use; stop what uses it or choose another`,
      ],
    ]);
    expect(service.diary()).toEqual([]);
    taken.close();
  });
});

describe("told to stop", () => {
  test.for(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s drains: work first, then what was opened last",
    async (signal) => {
      const service = start("wait");
      await service.said("running");
      service.child.kill(signal);
      expect(await service.ended()).toBe(0);
      expect(service.diary().slice(3)).toEqual(cleanEnd);
      expect(service.log.find(({ msg }) => msg === "stopping")?.reason).toBe(signal);
    },
  );

  test("a signal that arrives twice in a moment (Ctrl-C through npm) is one", async () => {
    const service = start("hang while draining", { DRAIN_TIMEOUT_MS: "400" });
    await service.said("running");
    service.child.kill("SIGINT");
    // Another signal, because the kernel makes one of two that are the same.
    service.child.kill("SIGHUP");
    // Not 130: it was the drain's time limit that ended it.
    expect(await service.ended()).toBe(1);
  });

  test("a second signal half a second later leaves at once", async () => {
    const service = start("hang while draining");
    await service.said("running");
    const from = performance.now();
    service.child.kill("SIGTERM");
    await service.said("stopping");
    // Time itself is what is tested here: of these, the first that counts is half a second after the first of all.
    const again = setInterval(() => service.child.kill("SIGINT"), 100);
    await service.said("leaving at once: second signal");
    clearInterval(again);
    expect(performance.now() - from).toBeGreaterThan(499);
    expect(await service.ended()).toBe(130);
    expect(service.diary()).not.toContain("close first");
  });

  test("a drain over its time limit ends non-zero and says so in one line", async () => {
    const service = start("hang while draining", { DRAIN_TIMEOUT_MS: "300" });
    await service.said("running");
    service.child.kill("SIGTERM");
    expect(await service.ended()).toBe(1);
    expect(service.failures()).toEqual([
      ["not finished within the drain time limit: leaving without what is in hand", undefined],
    ]);
  });

  test("a service that still waits for what it needs stops as cleanly", async () => {
    const service = start("unreachable");
    await service.said("degraded");
    service.child.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
    expect(service.diary()).toEqual(["open first", "open second", "close second", "close first", "exit 0"]);
  });

  test.for(["running", "starting"])(
    "a supervisor killed while its service is %s: the service drains and leaves",
    async (when) => {
      const path = join(directory, `diary-${++diaries}`);
      const supervisor = spawn(process.execPath, ["-e", supervise(when, path)], {
        stdio: ["ignore", "ignore", "inherit", "pipe"],
      });
      children.add(supervisor);
      // The service holds the other end of this pipe too, so it ends with the last of both.
      const both = supervisor.stdio[3];
      if (!both) throw new Error("no pipe");
      both.on("data", () => {});
      await Promise.all([once(supervisor, "exit"), once(both, "close")]);
      expect(supervisor.signalCode).toBe("SIGKILL");
      expect(readDiary(path).slice(-4)).toEqual(cleanEnd);
    },
  );
});

describe("errors", () => {
  test("a start that fails half-way closes what it had opened, last first, and says why with the password hidden", async () => {
    const service = start("throw at start");
    expect(await service.ended()).toBe(1);
    expect(service.failures()).toEqual([["the service failed", "no postgres://me:***@db/x"]]);
    expect(JSON.stringify(service.log)).not.toContain("hunter2");
    expect(JSON.stringify(service.log)).toContain("root of it");
    expect(service.diary()).toEqual(["open first", "open second", "close second", "close first", "exit 1"]);
  });

  test.for(["throw from nowhere", "reject from nowhere"] as const)(
    "%s: one line, resources closed, non-zero",
    async (mode) => {
      const service = start(mode);
      expect(await service.ended()).toBe(1);
      expect(service.failures()).toEqual([["the service failed", "from nowhere"]]);
      expect(service.diary()).toEqual(expect.arrayContaining(["close second", "close first", "exit 1"]));
    },
  );

  test("returning without being told to stop is an error", async () => {
    const service = start("return untold");
    expect(await service.ended()).toBe(1);
    expect(service.failures()).toEqual([
      ["the service failed", "the service returned without being told to stop"],
    ]);
  });

  test("what cannot be closed keeps nothing else open, and makes the end non-zero", async () => {
    const service = start("close fails");
    await service.said("running");
    service.child.kill("SIGTERM");
    expect(await service.ended()).toBe(1);
    expect(service.diary().slice(3)).toEqual(["finish", "close second", "close first", "exit 1"]);
    expect(service.failures()).toHaveLength(1);
  });

  test("a reader of the log that stalls costs lines, never time", async () => {
    const service = start("talk", {}, ["ignore", "pipe", "pipe", "ipc"]);
    service.child.stdout?.pause();
    const saidAll = Promise.withResolvers<void>();
    service.child.on("message", (note) => note === "said it all" && saidAll.resolve());
    await saidAll.promise;
    service.child.kill("SIGTERM");
    await once(service.child, "exit");
    expect(service.child.exitCode).toBe(0);
  });
});

describe("/readyz", () => {
  test.for([
    ["unreachable", 503, "starting"],
    ["wait", 200, "ready"],
    ["required check fails", 503, "failing"],
    ["optional check fails", 200, "degraded"],
  ] as const)("%s: %i %s", async ([mode, status, word]) => {
    const service = start(mode);
    const { port } = await service.said("operations server listening");
    await service.said(mode === "unreachable" ? "degraded" : "running");
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([answer.status, await answer.json()]).toMatchObject([status, { status: word }]);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  });

  test("draining: not ready and alive, for as long as there is work in hand", async () => {
    const service = start("hang while draining");
    const { port } = await service.said("operations server listening");
    await service.said("running");
    service.child.kill("SIGTERM");
    await service.said("stopping");
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([answer.status, await answer.json()]).toMatchObject([503, { status: "draining" }]);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  });

  test("says what fails and why, without passwords; /metrics says the same", async () => {
    const service = start("required check fails");
    const { port } = await service.said("operations server listening");
    await service.said("running");
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(await answer.json()).toEqual({
      status: "failing",
      checks: {
        needed: { up: false, required: true, reason: "redis://me:***@r/0 is away" },
        handy: { up: true, required: false },
      },
      degraded: {},
    });
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain('sluice_check_up{check="needed"} 0');
    expect(metrics).toContain('sluice_check_up{check="handy"} 1');
    expect(metrics).toContain("sluice_ready 0");
    expect(metrics).toContain("process_resident_memory_bytes");
    expect(metrics).toContain("nodejs_eventloop_lag_p99_seconds");
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
  });
});

interface LogLine {
  level: string;
  msg: string;
  port?: number;
  reason?: string;
  error?: { message: string };
}

/** Starts the fixture. `log` fills as it speaks; `diary` is what it noted. */
function start(
  mode: Mode,
  settings: Record<string, string> = {},
  stdio: StdioOptions = ["ignore", "pipe", "pipe"],
) {
  const path = join(directory, `diary-${++diaries}`);
  const child = spawn(process.execPath, [fixture], { env: { MODE: mode, DIARY: path, ...settings }, stdio });
  children.add(child);
  if (child.stdout === null || child.stderr === null) throw new Error("the service must be heard");
  const log: LogLine[] = [];
  const lines = createInterface(child.stdout).on("line", (line) => {
    const parsed: unknown = JSON.parse(line);
    if (isLogLine(parsed)) log.push(parsed);
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    child,
    log,
    stderr: () => stderr,
    diary: () => readDiary(path),
    failures: () =>
      log.filter(({ level }) => level === "error").map(({ msg, error }) => [msg, error?.message]),
    async said(message: string): Promise<LogLine> {
      for (;;) {
        const line = log.find(({ msg }) => msg === message);
        if (line !== undefined) return line;
        await once(lines, "line");
      }
    },
    /** Resolves to the exit status, or to the signal that ended it. */
    async ended(): Promise<number | string | null> {
      await once(child, "close");
      return child.exitCode ?? child.signalCode;
    },
  };
}

/** The program of a supervisor that starts the fixture with pipes and a channel, and kills itself. */
function supervise(when: string, diary: string): string {
  return `
    const orphan = ${when === "starting"};
    const args = [${JSON.stringify(fixture)}, orphan ? "orphan" : ""];
    const child = require("node:child_process").spawn(process.execPath, args, {
      env: { MODE: "wait", DIARY: ${JSON.stringify(diary)} },
      stdio: ["ignore", "pipe", "pipe", "ipc", 3],
    });
    const die = () => process.kill(process.pid, "SIGKILL");
    if (orphan) child.once("spawn", die);
    else child.on("message", (note) => note === "running" && die());
  `;
}

function readDiary(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

function isLogLine(value: unknown): value is LogLine {
  return typeof value === "object" && value !== null && "msg" in value && "level" in value;
}
