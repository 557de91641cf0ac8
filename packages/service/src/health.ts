import { createCheck, type Check, type CheckState } from "./check.ts";
import type { Log } from "./log.ts";
import { maskText } from "./mask.ts";
import type { Metrics } from "./metrics.ts";
import { createOutage, type Outage } from "./outage.ts";

/** What a service says about itself. */
export interface Health {
  /**
   * Something outside that can be asked after; a name used again replaces its check. While a required check (the
   * default) fails, the service is not ready; while another fails, it is ready and `degraded`. The probe is asked
   * when somebody looks, at most once a second and never twice at a time; it fails when it rejects, or after two
   * seconds without an answer.
   */
  check(name: string, probe: () => Promise<void>, options?: { required?: boolean }): void;
  /** Something it does without, and why; `undefined` when it is back. Cheap: call it as often as it is seen. */
  degraded(name: string, reason: string | undefined): void;
  /** The start is over. */
  ready(): void;
}

export interface HealthReport {
  readonly status: "ready" | "degraded" | "failing" | "starting" | "draining";
  readonly checks: Readonly<Record<string, CheckState>>;
  /** What it does without, and why. */
  readonly degraded: Readonly<Record<string, string>>;
}

export interface ReportingHealth extends Health {
  /** Not ready any more, for good. */
  drain(): void;
  /** Takes at most the time limit of a probe. */
  report(): Promise<HealthReport>;
}

// Below the ten seconds a scrape may take, and what most balancers wait for.
const defaultTimeLimitMs = 2000;

type Phase = "starting" | "started" | "draining";

export function createHealth(options: {
  log: Log;
  metrics: Metrics;
  /** Milliseconds, monotonic. */
  now?: () => number;
  timeLimitMs?: number;
}): ReportingHealth {
  const { log, metrics, now = () => performance.now(), timeLimitMs = defaultTimeLimitMs } = options;
  const checks = new Map<string, Check>();
  const lacks = new Map<string, { reason: string | undefined; outage: Outage }>();
  const readyGauge = metrics.gauge("sluice_ready", "1 while the service may be sent work");
  const upGauge = metrics.gauge("sluice_check_up", "1 while the check passes", ["check"]);
  const degradedGauge = metrics.gauge("sluice_degraded", "1 while the service does without it", ["what"]);
  let phase: Phase = "starting";

  return {
    check(name, probe, { required = true } = {}) {
      const messages = { failing: "check fails", over: "check passes again" };
      const outage = createOutage(log, { check: name }, messages, now);
      checks.set(name, createCheck({ probe, required, outage, timeLimitMs, now }));
    },
    degraded(name, reason) {
      const messages = { failing: "degraded", over: "no longer degraded" };
      const { outage } = lacks.get(name) ?? { outage: createOutage(log, { what: name }, messages, now) };
      lacks.set(name, { reason, outage });
      if (reason === undefined) outage.over();
      else outage.failing(reason);
      degradedGauge.set({ what: name }, reason === undefined ? 0 : 1);
    },
    ready() {
      if (phase === "starting") phase = "started";
    },
    drain() {
      phase = "draining";
      readyGauge.set(0);
    },
    async report() {
      await Promise.all([...checks.values()].map((check) => check.refresh()));
      const states = [...checks].map(([name, check]) => [name, check.state()] as const);
      const degraded = [...lacks].flatMap(([name, { reason }]) =>
        reason === undefined ? [] : [[name, maskText(reason)] as const],
      );
      const down = states.map(([, state]) => state).filter(({ up }) => !up);
      const status = statusOf(phase, down, degraded.length > 0);
      for (const [check, { up }] of states) upGauge.set({ check }, up ? 1 : 0);
      readyGauge.set(isReady(status) ? 1 : 0);
      return { status, checks: Object.fromEntries(states), degraded: Object.fromEntries(degraded) };
    },
  };
}

/** Whether to send it work: a service that does without something is as ready as any. */
export function isReady(status: HealthReport["status"]): boolean {
  return status === "ready" || status === "degraded";
}

function statusOf(phase: Phase, down: readonly CheckState[], lacking: boolean): HealthReport["status"] {
  if (phase !== "started") return phase;
  if (down.some(({ required }) => required)) return "failing";
  return lacking || down.length > 0 ? "degraded" : "ready";
}
