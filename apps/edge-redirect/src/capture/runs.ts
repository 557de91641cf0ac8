import type { Log } from "@sluice/service/log.ts";

import type { Run } from "./run.ts";

/** The run that clicks belong to now, and the clock that begins another one when it is set back. */
export interface Runs extends AsyncDisposable {
  current(): Run;
  /** The time of a click, for the run that is current after the call: never before the run's last one. */
  time(): number;
}

/** A clock that is set back further than this begins a new run; less is waited out. */
const maxStepBackMs = 1000;
const retryMs = 1000;

/** Rejects when the first run cannot be opened. `now` gives ms since 1970. */
export async function openRuns(open: () => Promise<Run>, now: () => number, log: Log): Promise<Runs> {
  let run = await open();
  let renewing: Promise<void> | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;

  /** Until the new run is open the old one goes on, with its last time. */
  async function renew(): Promise<void> {
    try {
      const old = run;
      run = await open();
      log.warn({}, "the clock was set back: a new run has begun");
      await old[Symbol.asyncDispose]();
    } catch (error) {
      log.error({ error }, "the clock was set back, and changing to a new run failed");
      notBefore = performance.now() + retryMs;
    }
    renewing = undefined;
  }

  return {
    current: () => run,
    time() {
      const ts = now();
      if (ts >= run.lastTs) return ts;
      if (ts < run.lastTs - maxStepBackMs && renewing === undefined && performance.now() >= notBefore) {
        renewing = renew();
      }
      return run.lastTs;
    },
    async [Symbol.asyncDispose]() {
      await renewing;
      await run[Symbol.asyncDispose]();
    },
  };
}
