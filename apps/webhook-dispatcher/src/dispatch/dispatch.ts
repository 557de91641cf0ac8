import { setImmediate } from "node:timers/promises";
import { eachBatch, lagOf } from "@sluice/event-log/each-batch.ts";
import type { Batch, LogRecord, Reader, Want } from "@sluice/event-log/event-log.ts";
import type { Log } from "@sluice/service/log.ts";
import type { Delivery } from "../delivery.ts";
import type { Fate } from "../lanes/lanes.ts";
import type { WithoutParked } from "./earlier.ts";
import type { Match } from "./match.ts";
import type { DispatchMetrics } from "./metrics.ts";
import type { Recent } from "./recent.ts";

/** A delivery, and what became of it within the window. */
export interface Attempted {
  readonly delivery: Delivery;
  readonly fate: Fate;
}

export interface Dispatch {
  readonly reader: Pick<Reader, "next">;
  readonly want: Want;
  readonly match: Match;
  readonly recent: Recent;
  readonly withoutParked: WithoutParked;
  /** Resolves after a window at the latest, with a fate for each; of those not tried it is told at once, too. */
  readonly attempt: (
    deliveries: readonly Delivery[],
    onTurnedAway: (these: readonly Attempted[]) => void,
  ) => Promise<readonly Fate[]>;
  /** Keeps in Postgres what is not over; waits while that is away. Rejects when the signal aborts. */
  readonly park: (attempted: readonly Attempted[], signal: AbortSignal) => Promise<void>;
  /** What is left of a batch is in Postgres, or another's. */
  readonly onParked: () => void;
  readonly metrics: DispatchMetrics;
  readonly log: Log;
  /** Ends the waiting for Postgres; the batch is then not committed. */
  readonly signal: AbortSignal;
}

/**
 * Attempts what each batch brings, parks what is not over, and commits. A batch settles within about a window, whatever
 * its targets do. After a crash before the commit all of it is attempted again, under the same ids. Returns when the
 * reader ends: a batch in hand is settled and committed all the same. Rejects when the reader fails, when the signal
 * aborts while Postgres is away, and for bugs.
 */
export async function dispatch(options: Dispatch): Promise<void> {
  const { reader, want, metrics, log } = options;
  let settledInMs = 0;
  await eachBatch({
    reader,
    // As many batches a second at most, but what a batch takes is not waited for on top.
    want: () => ({ ...want, maxWaitMs: Math.max(1, want.maxWaitMs - settledInMs) }),
    async settle(batch) {
      const readAt = performance.now();
      await settle(await fresh(batch, options), batch, options);
      settledInMs = performance.now() - readAt;
    },
    onCommitted: (batch) => metrics.lag.set(lagOf(batch)),
    metrics,
    log,
  });
}

async function fresh(batch: Batch, options: Dispatch): Promise<readonly Delivery[]> {
  const matched = await matchAll(batch.records, options);
  const left = await options.withoutParked(batch.epoch, matched);
  options.metrics.repeats.inc(matched.length - left.length);
  return left;
}

async function settle(deliveries: readonly Delivery[], batch: Batch, options: Dispatch): Promise<void> {
  const signal = AbortSignal.any([batch.signal, options.signal]);
  const turnedAway = new Set<Delivery>();
  const parking: Promise<void>[] = [];
  try {
    // Parked while the others are being sent, so that the next batch waits for the longer of the two and not for both.
    const attempting = options.attempt(deliveries, (these) => {
      for (const { delivery } of these) turnedAway.add(delivery);
      parking.push(options.park(these, signal));
    });
    const rest = attempting.then((fates) => {
      const attempted = fates.flatMap((fate, index) => {
        const delivery = deliveries[index];
        return delivery === undefined || turnedAway.has(delivery) ? [] : [{ delivery, fate }];
      });
      return options.park(attempted, signal);
    });
    await Promise.all([...parking, rest]);
  } finally {
    options.onParked();
  }
  // Only now: what is remembered is never looked at again.
  options.recent.add(deliveries.map(pairOf));
}

/** About 10 ms of decoding, while answers wait. */
const recordsPerTurn = 500;

async function matchAll(
  records: readonly LogRecord[],
  { match, recent, metrics }: Dispatch,
): Promise<Delivery[]> {
  const wanted: Delivery[] = [];
  const seen = new Set<string>();
  for (const [index, { value }] of records.entries()) {
    if (index % recordsPerTurn === recordsPerTurn - 1) await setImmediate();
    const matched = match(value);
    if (typeof matched === "string") {
      metrics.unmatched.inc({ reason: matched });
      continue;
    }
    for (const delivery of matched) {
      const name = `${delivery.target} ${delivery.event.id}`;
      if (seen.has(name) || recent.has(pairOf(delivery))) {
        metrics.repeats.inc();
        continue;
      }
      seen.add(name);
      wanted.push(delivery);
    }
  }
  metrics.matched.inc(wanted.length);
  return wanted;
}

function pairOf({ target, event }: Delivery) {
  return { target, eventId: event.id };
}
