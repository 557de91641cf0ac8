import { setTimeout as delay } from "node:timers/promises";

import type { KeptApp } from "../keep-app.ts";

/** Long enough for all apps to start at once on a busy machine. */
const startWithinMs = 60_000;

/** Rejects when it takes too long. */
export async function untilReady(app: KeptApp): Promise<void> {
  for (const deadline = performance.now() + startWithinMs; performance.now() < deadline; await delay(50))
    if ((await app.metric("sluice_ready")) === 1) return;
  throw new Error(`not ready in time:\n${app.story.slice(-20).join("\n")}`);
}

/** Tells it to stop; resolves to its exit status when the one that follows it is ready. */
export async function restart(app: KeptApp): Promise<number | null> {
  const before = app.statuses.length;
  app.kill("SIGTERM");
  for (const deadline = performance.now() + startWithinMs; app.statuses.length === before; await delay(50))
    if (performance.now() > deadline) throw new Error("it was told to stop, and has not ended in time");
  await untilReady(app);
  return app.statuses[before] ?? null;
}
