import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { createBackoff } from "@sluice/service/retry.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import type { CacheMetrics } from "./cache-metrics.ts";

/** Something behind the memory that can be asked for links, and may be away. */
export interface Level {
  /** False: do not. Finds out in the background whether it is back, now and then. */
  mayAsk(): boolean;
  /** What the question gives; rejects when it takes longer than the level's time limit, or must not be asked. */
  ask<Answer>(question: () => Promise<Answer>): Promise<Answer>;
}

export interface LevelOptions {
  readonly name: "postgres" | "redis";
  readonly limitMs: number;
  /** Resolves when the level is there. Nobody waits for it. */
  readonly probe: () => Promise<void>;
  readonly log: Log;
  readonly count: Pick<CacheMetrics, "open">;
  readonly now: () => number;
  readonly random: () => number;
}

/** Questions at once: one for each look-up that the cache allows, and as many that write down what was found. */
const maxInFlight = 500;
/** Longer than a visitor would wait: a connection may have to be made first. */
const probeLimitMs = 2_000;

/**
 * Open while questions are answered. Shut by the first that fails while no other is answered, so that one visitor, or
 * those who came together with it, are all who wait for a level that is away; what opens it again is a probe of its own,
 * after pauses that grow from 0.1 to 5 s while questions go on failing.
 */
export function createLevel({ name, limitMs, probe, log, count, now, random }: LevelOptions): Level {
  const backoff = createBackoff({ minMs: 100, maxMs: 5_000, random });
  const messages = { failing: "cannot be asked for links", over: "can be asked for links again" };
  const outage = createOutage(log, { level: name }, messages, now);
  let inFlight = 0;
  let answeredAt = -Infinity;
  let shutAt: number | undefined;
  let probeAt = 0;
  let probing = false;

  function open(): void {
    if (shutAt === undefined) return;
    shutAt = undefined;
    outage.over();
    count.open(name, true);
  }
  function shut(error: unknown): void {
    outage.failing(error);
    if (shutAt === undefined) count.open(name, false);
    shutAt = now();
    probeAt = shutAt + backoff.next();
  }
  async function findOut(): Promise<void> {
    probing = true;
    try {
      await withinMs(probeLimitMs, probe());
      open();
    } catch (error) {
      shut(error);
    }
    probing = false;
  }
  function mayAsk(): boolean {
    if (shutAt === undefined) return inFlight < maxInFlight;
    if (!probing && now() >= probeAt) findOut().catch(shut);
    return false;
  }

  count.open(name, true);
  return {
    mayAsk,
    async ask(question) {
      if (!mayAsk()) throw new Error(`${name} is not asked now`);
      const startedAt = now();
      inFlight += 1;
      try {
        const answer = await withinMs(limitMs, question());
        answeredAt = now();
        backoff.reset();
        open();
        return answer;
      } catch (error) {
        // One that others overtook was slow; those that were on their way when the first one failed say nothing new.
        if (answeredAt <= startedAt && (shutAt === undefined || startedAt >= shutAt)) shut(error);
        throw error;
      } finally {
        inFlight -= 1;
      }
    },
  };
}
