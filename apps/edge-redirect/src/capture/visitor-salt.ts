import { randomBytes } from "node:crypto";

import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import type { Metrics } from "@sluice/service/metrics.ts";

import { type LocalSalts, saltBytes } from "./local-salts.ts";

/** The key under which visitors are hashed on a day: `dayOf` of a click's time. Another object when it is another key. */
export type VisitorSalt = (day: number) => Uint8Array;

/** Days since 1970, UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

export interface VisitorSaltOptions {
  /**
   * The key of a day that all edges share, `fresh` when nobody asked for it before. Rejects, in bounded time, when it
   * cannot be had.
   */
  readonly shared: (day: number, fresh: Uint8Array) => Promise<Uint8Array>;
  readonly local: LocalSalts;
  readonly health: Pick<Health, "degraded">;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How often it is asked for what is missing. */
  readonly everyMs?: number;
}

const dayMs = 86_400_000;
/** So long before midnight the next day's key is asked for, so that nobody notices a store which is away just then. */
const aheadMs = 3_600_000;
const defaultEveryMs = 5_000;

/**
 * Keeps the day's key at hand, and tomorrow's in the last hour before. A click never waits for it: until it is there the
 * edge's own key is used, which metric and health say; visitors met meanwhile count again afterwards.
 */
export async function openVisitorSalt(
  options: VisitorSaltOptions,
): Promise<{ salt: VisitorSalt } & AsyncDisposable> {
  const { shared, local, health, metrics, now, everyMs = defaultEveryMs } = options;
  const isShared = metrics.gauge(
    "edge_visitor_salt_shared",
    "1 while visitors are hashed under the key of all edges",
  );
  const known = new Map<number, Uint8Array>();
  let current: { day: number; salt: Uint8Array } = { day: -1, salt: new Uint8Array(saltBytes) };
  let pruned = -1;
  let asking: Promise<void> | undefined;

  function use(day: number): Uint8Array {
    current = { day, salt: known.get(day) ?? local.of(day) };
    return current.salt;
  }

  async function ask(): Promise<void> {
    const today = dayOf(now());
    forgetBefore(today);
    try {
      for (const day of new Set([today, dayOf(now() + aheadMs)])) {
        if (!known.has(day)) known.set(day, await shared(day, randomBytes(saltBytes)));
      }
    } catch (error) {
      if (!known.has(today))
        health.degraded("visitor-salt", `visitors are told apart by this edge alone: ${errorLine(error)}`);
    }
    const ours = known.get(today);
    isShared.set(ours === undefined ? 0 : 1);
    if (ours === undefined) return;
    health.degraded("visitor-salt", undefined);
    if (current.day === today) current = { day: today, salt: ours };
  }

  function forgetBefore(today: number): void {
    if (today === pruned) return;
    pruned = today;
    for (const day of known.keys()) if (day < today) known.delete(day);
    local.prune(today);
  }

  await ask();
  const timer = setInterval(() => {
    asking ??= ask().finally(() => (asking = undefined));
  }, everyMs).unref();
  return {
    // After a step back of the clock the later day's key goes on: the earlier one is gone.
    salt: (day) => (day > current.day ? use(day) : current.salt),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await asking;
    },
  };
}
