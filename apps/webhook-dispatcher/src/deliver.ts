import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { EventLog } from "@sluice/event-log/event-log.ts";
import { persistently } from "@sluice/event-log/persistently.ts";
import type { Service } from "@sluice/service/run-service.ts";
import { keepAttempts } from "./attempt-log/keep-attempts.ts";
import type { Config } from "./config.ts";
import { dispatch } from "./dispatch/dispatch.ts";
import { createWithoutParked } from "./dispatch/earlier.ts";
import { createMatch } from "./dispatch/match.ts";
import { dispatchMetrics } from "./dispatch/metrics.ts";
import { createPark } from "./dispatch/park.ts";
import { createRecent } from "./dispatch/recent.ts";
import { followErasures, type KnownErasures } from "./erasures/follow-erasures.ts";
import { joinFleet } from "./fleet/fleet.ts";
import { wanted } from "./limits.ts";
import { operatorTarget } from "./notices/audience.ts";
import type { Opened } from "./opened.ts";
import { type Outlet, openOutlet } from "./outlet.ts";
import { claimDue } from "./retry/claim-due.ts";
import { keepTidy } from "./retry/keep-tidy.ts";
import { retryMetrics } from "./retry/metrics.ts";
import { createNudge, type Nudge } from "./retry/nudge.ts";
import { followTargets, type KnownTargets } from "./targets/known-targets.ts";
import { targetMetrics } from "./targets/metrics.ts";
import { runTrials } from "./trials/run-trials.ts";

/** What is settled, noted and logged after the last attempt has ended, before the drain time is over. */
const lastWordsMs = 4_000;

/**
 * Delivers what the ingester fans out, and what is due of that which could not be delivered at once, until told to stop.
 * Then it reads no more, lets end what is in flight, parks the rest and commits. Never fails because something outside
 * is away or fails: it says what it does without, and its group of the event log lags.
 */
export async function deliver(service: Service<Config>, opened: Opened): Promise<void> {
  const { config, log, metrics, health, resources, signal } = service;
  const { deliveries, targets, changes, channels, http } = opened;
  const overdue = overdueSignal(signal, config.DRAIN_TIMEOUT_MS - lastWordsMs);
  const known = resources.use(
    followTargets({
      list: () => targets.sendable(Date.now()),
      channels,
      own: operatorTarget(config),
      changes,
      health,
      metrics: targetMetrics(metrics),
      log,
      signal,
    }),
  );
  const fleet = resources.use(joinFleet({ store: deliveries, member: uuidv7(Date.now()), health }));
  const erased = followErasures({ list: (limit) => opened.erasures.list(limit), health, signal });
  const outlet = openOutlet(service, opened, { known, fleet, erased });
  const nudge = createNudge();
  const counted = retryMetrics(metrics);
  await Promise.all([known.read, erased.asked]);
  health.ready();
  try {
    await Promise.all([
      dispatchClicks(service, opened, { known, erased, outlet, nudge }, overdue),
      claimDue({
        store: deliveries,
        ...outlet,
        nudge,
        leaseMs: config.LEASE_MS,
        metrics: counted,
        health,
        signal,
      }),
      keepTidy({ store: deliveries, metrics: counted, health, signal }),
      runTrials({ store: targets, channels, http, health, signal }),
      keepAttempts(opened.attempts, health, signal),
    ]);
  } finally {
    await outlet.drain(overdue, lastWordsMs);
  }
}

interface Dispatching {
  readonly known: KnownTargets;
  readonly erased: KnownErasures;
  readonly outlet: Outlet;
  readonly nudge: Nudge;
}

/** `overdue` ends the waiting for a Postgres that is away while we have to leave. */
async function dispatchClicks(
  { config, log, metrics: registry, health, resources, signal }: Service<Config>,
  { openEvents, deliveries }: Opened,
  { known, erased, outlet, nudge }: Dispatching,
  overdue: AbortSignal,
): Promise<void> {
  const metrics = dispatchMetrics(registry);
  const match = createMatch(known, erased);
  const recent = createRecent();
  const withoutParked = createWithoutParked(deliveries);
  const park = createPark({ store: deliveries, metrics, log, onFullParked: () => nudge.give() });
  let opened: EventLog | undefined;
  async function readOn(): Promise<void> {
    const events = (opened ??= resources.use(await openEvents()));
    health.check("event-log", () => events.ping());
    await using reader = await events.open(config.FANOUT_TOPIC, { group: config.DISPATCHER_GROUP, signal });
    health.degraded("dispatch", undefined);
    await dispatch({
      reader,
      want: wanted(config),
      match,
      recent,
      withoutParked,
      attempt: (batch, onTurnedAway) => outlet.attempt(batch, onTurnedAway),
      park,
      onParked: () => outlet.parked(),
      metrics,
      log,
      signal: overdue,
    });
  }
  await persistently(readOn, {
    name: "dispatch",
    failing: "what is fanned out cannot be read",
    health,
    signal,
  });
}

/** Aborts so long after the signal has. */
function overdueSignal(signal: AbortSignal, afterMs: number): AbortSignal {
  const overdue = new AbortController();
  const later = () => void setTimeout(() => overdue.abort(), Math.max(0, afterMs)).unref();
  signal.addEventListener("abort", later, { once: true });
  return overdue.signal;
}
