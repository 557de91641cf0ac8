import type { TargetId } from "@sluice/link-store/targets/target.ts";
import type { Service } from "@sluice/service/run-service.ts";
import { createAttemptLog } from "./attempt-log/attempt-log.ts";
import { attemptLogMetrics } from "./attempt-log/metrics.ts";
import type { Config } from "./config.ts";
import type { Delivery } from "./delivery.ts";
import { createGate } from "./dispatch/gate.ts";
import type { KnownErasures } from "./erasures/follow-erasures.ts";
import type { Fleet } from "./fleet/fleet.ts";
import { createLanes } from "./lanes/create-lanes.ts";
import type { Fate, Lanes, Outcome, TurnedAway } from "./lanes/lanes.ts";
import { laneMetrics } from "./lanes/metrics.ts";
import { laneLimits } from "./limits.ts";
import { audienceOf, operatorId } from "./notices/audience.ts";
import { createDisabling } from "./notices/disable-target.ts";
import type { Opened } from "./opened.ts";
import { outcomeMetrics } from "./outcomes/metrics.ts";
import { createReport } from "./outcomes/report.ts";
import { settlementOf } from "./outcomes/settlement.ts";
import { createSettler, type Settler } from "./retry/settler.ts";
import { createStanding } from "./standing/standing.ts";
import { isUnavailable } from "./store-errors.ts";
import type { KnownTargets } from "./targets/known-targets.ts";

/** What the lanes ask before they send. */
interface Around {
  readonly known: KnownTargets;
  readonly fleet: Fleet;
  readonly erased: KnownErasures;
}

/** The lanes, and all that has to be told of what comes out of them. */
export interface Outlet {
  /** Attempts what a batch brings. Until `parked` is called, outcomes of what went on are held. */
  attempt(deliveries: readonly Delivery[], onTurnedAway: TurnedAway): Promise<readonly Fate[]>;
  /** What is left of the batch is in Postgres, or is another's. */
  parked(): void;
  /** For what is claimed. */
  readonly room: Lanes["room"];
  readonly take: Lanes["take"];
  /** Lets end what is in flight until the signal aborts, and says the last words about it. Never rejects. */
  drain(signal: AbortSignal, lastWordsMs: number): Promise<void>;
}

export function openOutlet(service: Service<Config>, opened: Opened, around: Around): Outlet {
  const { config, log, metrics } = service;
  const { deliveries, attempts } = opened;
  const attemptLog = createAttemptLog({
    write: (some, limit) => attempts.write(some, limit),
    metrics: attemptLogMetrics(metrics),
    log,
  });
  const disable = createDisable(opened, around.known);
  const report = createReport({
    logAttempt: (attempt) => attemptLog.add(attempt),
    standing: createStanding(deliveries),
    metrics: outcomeMetrics(metrics),
    disable,
  });
  const gate = createGate();
  const settler = createSettler({
    settle: (settlements, now) => deliveries.settle(settlements, now),
    parked: () => gate.passed(),
    log,
  });
  const lanes = openLanes(service, opened, around, { report, settler, disable });
  return {
    async attempt(batch, onTurnedAway) {
      gate.shut();
      const fates = await lanes.attempt(batch, config.BATCH_WINDOW_MS, onTurnedAway);
      for (const [index, fate] of fates.entries()) {
        const delivery = batch[index];
        if (delivery !== undefined && fate.kind === "settled") report(delivery, fate.outcome);
      }
      return fates;
    },
    parked: () => gate.open(),
    room: (target) => lanes.room(target),
    take: (claimed) => lanes.take(claimed),
    async drain(signal, lastWordsMs) {
      await lanes.drain(signal);
      // What is not noted is sent again when its lease ends, under the same id.
      await settler.flush(AbortSignal.timeout(lastWordsMs / 2)).catch(() => {});
      await attemptLog.close(lastWordsMs / 2);
    },
  };
}

function openLanes(
  { config, metrics, resources }: Service<Config>,
  { http, deliveries }: Opened,
  { known, fleet, erased }: Around,
  { report, settler, disable }: Told,
): Lanes {
  return resources.use(
    createLanes({
      find: (id) => known.of(id),
      isErased: (event) => erased.takes(event),
      http,
      ledger: deliveries,
      members: () => fleet.members(),
      pausedUntil: (target) => fleet.pausedUntil(target),
      onPause: (target, until, reason) => fleet.pause(target, until, reason),
      onDisable: (target, reason) => void disable(target, reason).catch(unlessUnavailable),
      onOutcome(claimed, fate) {
        if (fate.kind === "settled") report(claimed, fate.outcome);
        settler.add(settlementOf(claimed, fate));
      },
      limits: laneLimits(config),
      clock: systemClock,
      random: Math.random,
      metrics: laneMetrics(metrics),
    }),
  );
}

/** Who is told of what comes out of the lanes. */
interface Told {
  readonly report: (delivery: Delivery, outcome: Outcome) => void;
  readonly settler: Settler;
  readonly disable: (target: TargetId, reason: string) => Promise<void>;
}

/** Gives the function that disables a target, wherever it is found to be hopeless, and has others told. */
function createDisable({ targets, deliveries }: Opened, known: KnownTargets) {
  const disabling = createDisabling({
    disable: (target, reason, now) => targets.disable(target, reason, now),
    store: deliveries,
    audience: (target) => audienceOf(target, known),
  });
  return async (id: TargetId, reason: string): Promise<void> => {
    const found = known.of(id);
    if (found !== undefined && id !== operatorId) await disabling(found.target, reason, Date.now());
  };
}

const systemClock = {
  now: () => Date.now(),
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** What could not be written now is found again by the next outcome. */
function unlessUnavailable(error: unknown): void {
  if (!isUnavailable(error)) throw error;
}
