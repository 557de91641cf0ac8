import type { Log } from "./log.ts";
import { errorLine } from "./mask.ts";
import type { Metrics } from "./metrics.ts";
import { createOutage, type Outage } from "./outage.ts";

/** What a service says about itself. */
export interface Health {
  /**
   * Something the service needs; asking again under a name replaces the check. While a required check (the
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
  readonly checks: Readonly<Record<string, { up: boolean; required: boolean; reason?: string }>>;
  readonly degraded: Readonly<Record<string, string>>;
}

export interface ReportingHealth extends Health {
  /** Not ready any more, for good. */
  drain(): void;
  /** Takes at most the time limit of a probe. */
  report(): Promise<HealthReport>;
}

// A probe that is asked for by several balancers at once costs its service one question a second.
const cacheMs = 1000;
// Below the ten seconds a scrape may take, and what most balancers wait for.
const timeLimitMs = 2000;

export function createHealth({ log, metrics }: { log: Log; metrics: Metrics }): ReportingHealth {
  const checks = new Map<string, Check>();
  const degraded = new Map<string, { reason: string | undefined; outage: Outage }>();
  const readyGauge = metrics.gauge("sluice_ready", "1 while the service may be sent work");
  const upGauge = metrics.gauge("sluice_check_up", "1 while the check passes", ["check"]);
  const degradedGauge = metrics.gauge("sluice_degraded", "1 while the service does without it", ["what"]);
  let phase: "starting" | "started" | "draining" = "starting";

  return {
    check(name, probe, { required = true } = {}) {
      const outage = createOutage(
        log,
        { check: name },
        { failing: "check fails", over: "check passes again" },
      );
      checks.set(name, createCheck(probe, required, outage));
    },
    degraded(name, reason) {
      const messages = { failing: "degraded", over: "no longer degraded" };
      const entry = degraded.get(name) ?? {
        reason: undefined,
        outage: createOutage(log, { what: name }, messages),
      };
      entry.reason = reason;
      if (reason === undefined) entry.outage.over();
      else entry.outage.failing(reason);
      degraded.set(name, entry);
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
      const states = Object.fromEntries([...checks].map(([name, check]) => [name, check.state()]));
      for (const [name, { up }] of Object.entries(states)) upGauge.set({ check: name }, up ? 1 : 0);
      const without = Object.fromEntries(
        [...degraded].flatMap(([name, { reason }]) =>
          reason === undefined ? [] : [[name, reason] as const],
        ),
      );
      const down = Object.values(states).filter(({ up }) => !up);
      const status =
        phase !== "started"
          ? phase
          : down.some(({ required }) => required)
            ? "failing"
            : down.length > 0 || Object.keys(without).length > 0
              ? "degraded"
              : "ready";
      readyGauge.set(isReady(status) ? 1 : 0);
      return { status, checks: states, degraded: without };
    },
  };
}

/** Whether to send it work: a service that does without something is as ready as any. */
export function isReady(status: HealthReport["status"]): boolean {
  return status === "ready" || status === "degraded";
}

interface Check {
  /** Resolves when the state is as new as it can be had in time. */
  refresh(): Promise<void>;
  state(): { up: boolean; required: boolean; reason?: string };
}

function createCheck(probe: () => Promise<void>, required: boolean, outage: Outage): Check {
  let failure: string | undefined = "not asked yet";
  let answeredAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let late = false;

  function settle(error?: unknown): void {
    failure = error === undefined ? undefined : errorLine(error);
    if (failure === undefined) outage.over();
    else outage.failing(failure);
  }
  async function ask(): Promise<void> {
    try {
      await probe();
      settle();
    } catch (error) {
      settle(error ?? "failed");
    }
    answeredAt = performance.now();
    running = undefined;
    late = false;
  }
  async function refresh(): Promise<void> {
    if (running === undefined && performance.now() - answeredAt < cacheMs) return;
    running ??= ask();
    // One that is late already is not waited for again.
    if (late) return settle(`no answer within ${timeLimitMs} ms`);
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      late = true;
      settle(`no answer within ${timeLimitMs} ms`);
      limit.resolve();
    }, timeLimitMs);
    await Promise.race([running, limit.promise]);
    clearTimeout(timer);
  }
  return {
    refresh,
    state: () => (failure === undefined ? { up: true, required } : { up: false, required, reason: failure }),
  };
}
