import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { sleep } from "@sluice/service/retry.ts";

export interface Passes {
  readonly what: string;
  /** What is logged when a pass fails, and when one succeeds again. */
  readonly failing: string;
  readonly over: string;
  readonly everyMs: number;
  /** Told of each pass that has failed. */
  readonly failed: () => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Makes a pass every so often, the first at once, until the signal aborts. What the click store refuses is counted, said
 * and tried again in the next pass; any other error is a bug, and rejects.
 */
export async function makePasses(passes: Passes, pass: () => Promise<void>): Promise<void> {
  const { what, failing, over, everyMs, failed, log, signal } = passes;
  const outage = createOutage(log, { what }, { failing, over });
  while (!signal.aborted) {
    try {
      await pass();
      outage.over();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ClickStoreError)) throw error;
      failed();
      outage.failing(error);
    }
    await sleep(everyMs, signal).catch(() => {});
  }
}
