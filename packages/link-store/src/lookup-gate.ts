import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { createBackoff } from "@sluice/service/retry.ts";

/** Decides whether Postgres may be asked now. */
export interface LookupGate {
  /** True: ask, then call `leave` once. False: answer from what is in memory. */
  enter(): boolean;
  /** `startedAt` is when the look-up began; with an error when it failed. */
  leave(startedAt: number, error?: unknown): void;
}

/** Look-ups at once. Postgres answers some thousands a second, so that the last in line is not taken for an outage. */
const maxInFlight = 250;

/**
 * Open while look-ups succeed. After a failure it stays shut for a while that grows from 0.1 to 5 s, then lets one
 * look-up through: its success opens the gate, its failure shuts it again.
 */
export function createLookupGate(options: { log: Log; now: () => number; random: () => number }): LookupGate {
  const { log, now, random } = options;
  const backoff = createBackoff({ minMs: 100, maxMs: 5_000, random });
  const messages = {
    failing: "Postgres cannot be asked for links: those in memory are served as they are",
    over: "Postgres can be asked for links again",
  };
  const outage = createOutage(log, {}, messages, now);
  let inFlight = 0;
  let shutAt: number | undefined;
  let shutUntil = 0;

  return {
    enter() {
      if (inFlight >= maxInFlight) return false;
      if (shutAt !== undefined && (inFlight > 0 || now() < shutUntil)) return false;
      inFlight += 1;
      return true;
    },
    leave(startedAt, error) {
      inFlight -= 1;
      if (error === undefined) {
        shutAt = undefined;
        backoff.reset();
        outage.over();
        return;
      }
      outage.failing(error);
      // Those that were on their way when the first one failed say nothing new.
      if (shutAt !== undefined && startedAt < shutAt) return;
      shutAt = now();
      shutUntil = shutAt + backoff.next();
    },
  };
}
