// A set-up file of the integration tests: what a test file starts, it ends.
import { setTimeout as delay } from "node:timers/promises";

import { afterAll } from "vitest";

import { processesOnTempDirs } from "./temp-dir.ts";

// Registered first, so it runs last.
afterAll(async () => {
  // Sockets close a moment after what owned them.
  const until = performance.now() + 2_000;
  while (leftovers().length > 0 && performance.now() < until) await delay(20);
  const left = leftovers();
  if (left.length > 0) throw new Error(`left running by this file: ${left.join(", ")}`);
});

function leftovers(): string[] {
  const handles = process.getActiveResourcesInfo().filter((kind) => kinds.has(kind));
  return [...handles, ...processesOnTempDirs().map((pid) => `process ${pid}`)];
}

/** Handles that keep a process alive and that only a forgotten server, connection or child holds. */
const kinds = new Set(["TCPServerWrap", "TCPSocketWrap", "ProcessWrap"]);
