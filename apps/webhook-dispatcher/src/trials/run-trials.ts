import type { TargetStore } from "@sluice/link-store/targets/target-store.ts";
import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { sleep } from "@sluice/service/retry.ts";
import type { Channels } from "../channels/channels.ts";
import type { HttpClient } from "../http/http-client.ts";
import { isUnavailable } from "../store-errors.ts";
import { tryTarget } from "./try-target.ts";

export interface TrialOptions {
  readonly store: Pick<TargetStore, "claimTests" | "finishTest">;
  readonly channels: Channels;
  readonly http: Pick<HttpClient, "send">;
  readonly health: Pick<Health, "degraded">;
  readonly signal: AbortSignal;
}

/** A person waits for it. */
const everyMs = 500;
/** Requests are bounded by 15 s each. */
const leaseMs = 30_000;
/** At once; people ask one at a time. */
const maxAtOnce = 8;

/** Sends what somebody wants to have tried, until the signal aborts. While Postgres is away it goes on asking. */
export async function runTrials({ store, channels, http, health, signal }: TrialOptions): Promise<void> {
  async function tryOnce(): Promise<void> {
    const now = Date.now();
    const trials = await store.claimTests({ now, leaseUntil: now + leaseMs, limit: maxAtOnce });
    await Promise.all(
      trials.map(async (trial) => {
        const result = await tryTarget(trial.target, { channels, http, signal });
        await store.finishTest(trial, result, Date.now());
      }),
    );
  }
  while (!signal.aborted) {
    try {
      await tryOnce();
      health.degraded("tests", undefined);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      health.degraded("tests", `test deliveries cannot be asked for: ${errorLine(error)}`);
    }
    await sleep(everyMs, signal).catch(() => {});
  }
}
