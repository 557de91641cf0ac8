import { errorLine } from "./mask.ts";
import type { Outage } from "./outage.ts";

export interface CheckState {
  readonly up: boolean;
  readonly required: boolean;
  readonly reason?: string;
}

/** One check of a service's health: remembers its last answer, and asks again when that is old. */
export interface Check {
  /** Resolves when the state is as new as it can be had in time. */
  refresh(): Promise<void>;
  state(): CheckState;
}

// A probe that several balancers ask for at once costs its service one question a second.
const cacheMs = 1000;

export function createCheck(options: {
  probe: () => Promise<void>;
  required: boolean;
  outage: Outage;
  timeLimitMs: number;
  /** Milliseconds, monotonic. */
  now: () => number;
}): Check {
  const { probe, required, outage, timeLimitMs, now } = options;
  let failure: string | undefined = "not asked yet";
  let answeredAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let late = false;

  function fail(error: unknown): void {
    failure = errorLine(error);
    outage.failing(error);
  }
  async function ask(): Promise<void> {
    try {
      await probe();
      failure = undefined;
      outage.over();
    } catch (error) {
      fail(error);
    }
    answeredAt = now();
    running = undefined;
    late = false;
  }
  return {
    async refresh() {
      if (running === undefined && now() - answeredAt < cacheMs) return;
      running ??= ask();
      // One that is late already is not waited for again.
      if (late) return fail(`no answer within ${timeLimitMs} ms`);
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        late = true;
        fail(`no answer within ${timeLimitMs} ms`);
        limit.resolve();
      }, timeLimitMs);
      await Promise.race([running, limit.promise]);
      clearTimeout(timer);
    },
    state: () => (failure === undefined ? { up: true, required } : { up: false, required, reason: failure }),
  };
}
