import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { commandLine } from "@sluice/local-services/process-table.ts";
import { configExitCode } from "@sluice/service/service-error.ts";
import { tempDir, type TempDir } from "@sluice/testkit/temp-dir.ts";
import { afterEach, beforeEach, expect, test } from "vitest";

import { startApp } from "./app.ts";
import { type Kept, keepRunning } from "./keep-running.ts";
import { createOutput } from "./output.ts";

let directory: TempDir;
let printed: string[];
beforeEach(async () => {
  directory = await tempDir();
  printed = [];
});
afterEach(() => directory[Symbol.asyncDispose]());

/** Keeps a script running. It says who it is when it has set itself up. */
async function keep(
  script: string,
  stopWithinMs = 10_000,
): Promise<Kept & { readonly refused: Promise<void> }> {
  const main = join(directory.path, "main.mjs");
  await writeFile(main, `const sayWho = () => console.log("I am", process.pid);\n${script}`);
  const output = createOutput((line) => printed.push(line));
  const refused = Promise.withResolvers<void>();
  const kept = await keepRunning(() => startApp({ name: "app", main, env: {}, stopWithinMs }, output), {
    log: output.log("app"),
    onRefused: refused.resolve,
    random: () => 1,
  });
  return { ...kept, refused: refused.promise };
}

/** Resolves with the process id of the start of that number, once it has said it. */
async function pidOf(start: number): Promise<number> {
  await expect.poll(pids, { timeout: 15_000 }).toHaveLength(start);
  return pids()[start - 1] ?? 0;
}

function pids(): number[] {
  return printed.flatMap((line) => /I am (\d+)/.exec(line)?.[1] ?? []).map(Number);
}

/** A dead process whose parent has not asked for it yet has a number, but no command line. */
function isAlive(pid: number): boolean {
  return commandLine(pid) !== "";
}

const drain = `
  const busy = setInterval(() => {}, 1000);
  process.on("SIGTERM", () => { console.log("drained"); clearInterval(busy); process.disconnect(); });
  sayWho();
`;

test("a process that is killed is started again, however often", async () => {
  await using kept = await keep(drain);
  for (let start = 1; start <= 3; start += 1) process.kill(await pidOf(start), "SIGKILL");
  const last = await pidOf(4);
  await kept[Symbol.asyncDispose]();
  expect(isAlive(last)).toBe(false);
  await expect.poll(() => printed.join("")).toContain("drained");
});

test("a process that ends by itself again and again is started further and further apart", async () => {
  await using kept = await keep(`sayWho(); console.log("at", performance.timeOrigin); process.exit(1);`);
  await pidOf(5);
  kept.kill();
  const starts = printed.flatMap((line) => /at ([\d.]+)/.exec(line)?.[1] ?? []).map(Number);
  const waits = starts.slice(1, 5).map((at, index) => at - (starts[index] ?? 0));
  // All waits are drawn as long as they may be.
  for (const [index, atLeastMs] of [200, 400, 800].entries()) expect(waits[index]).toBeGreaterThan(atLeastMs);
});

test("a process that refuses its configuration is not started again", async () => {
  await using kept = await keep(`sayWho(); process.exit(${configExitCode});`);
  await kept.refused;
  expect(pids()).toHaveLength(1);
});

test("one that does not stop in time is killed, with what it has started itself", async () => {
  const child = `require("node:child_process").spawn("sleep", ["1000"]).pid`;
  await using kept = await keep(
    `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
     process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); sayWho(); console.log("I am", ${child});`,
    100,
  );
  await pidOf(2);
  await kept[Symbol.asyncDispose]();
  await expect.poll(() => pids().map(isAlive)).toEqual([false, false]);
});

test("a restart for changed sources does not wait for the back-off", async () => {
  await using kept = await keep(drain);
  const first = await pidOf(1);
  kept.restart();
  await pidOf(2);
  expect(isAlive(first)).toBe(false);
  expect(printed.join("")).not.toContain("ended untold");
});

test("an app learns by its channel that its supervisor is gone", async () => {
  const main = join(directory.path, "supervisor.mjs");
  const app = join(directory.path, "app.mjs");
  await writeFile(app, `process.on("disconnect", () => process.exit(0)); console.log("I am", process.pid);`);
  await writeFile(
    main,
    `import { startApp } from ${JSON.stringify(join(import.meta.dirname, "app.ts"))};
     import { createOutput } from ${JSON.stringify(join(import.meta.dirname, "output.ts"))};
     await startApp({ name: "app", main: ${JSON.stringify(app)}, env: {}, stopWithinMs: 1000 },
       createOutput((line) => process.stdout.write(line)));`,
  );
  const output = createOutput((line) => printed.push(line));
  const supervisor = await startApp({ name: "supervisor", main, env: {}, stopWithinMs: 1000 }, output);
  const pid = await pidOf(1);
  process.kill(supervisor.pid, "SIGKILL");
  await supervisor.exited;
  await expect.poll(() => isAlive(pid)).toBe(false);
});
