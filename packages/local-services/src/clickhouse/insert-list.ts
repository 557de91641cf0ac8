import { setTimeout as delay } from "node:timers/promises";

import type { Engine } from "./engine.ts";

/** Which inserts the engine was told to run; it puts them on its own list, `system.processes`, a moment later. */
export interface InsertList {
  /** Call before the last look at whether an insert is still wanted; dispose of it when it has ended. */
  add(path: string): Disposable;
  /** Resolves when all that have been added are on the engine's list, or have ended. */
  complete(): Promise<void>;
}

/** A moment on an idle machine; on a busy one it may be any time. */
const pollMs = 5;

export function createInsertList(engine: Engine): InsertList {
  const running = new Set<string>();
  return {
    add(path) {
      running.add(path);
      return { [Symbol.dispose]: () => running.delete(path) };
    },
    async complete() {
      let unlisted = new Set(running);
      for (;;) {
        unlisted = unlisted.intersection(running);
        if (unlisted.size === 0) return;
        const listed = await readList(engine);
        // A file is one insert's alone, and its statement names it.
        unlisted = new Set([...unlisted].filter((path) => !listed.includes(`'${path}'`)));
        if (unlisted.size > 0) await delay(pollMs);
      }
    },
  };
}

async function readList(engine: Engine): Promise<string> {
  const { bytes } = await engine.run({
    text: "SELECT query FROM system.processes WHERE query_kind = 'Insert'",
    database: undefined,
    settings: new Map(),
    format: "TSVRaw",
  });
  return Buffer.from(bytes).toString();
}
