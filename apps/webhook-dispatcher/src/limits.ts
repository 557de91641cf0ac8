import type { Want } from "@sluice/event-log/event-log.ts";
import type { Config } from "./config.ts";
import { defaultLimits, type LaneLimits } from "./lanes/limits.ts";

export function laneLimits(config: Config): LaneLimits {
  return {
    ...defaultLimits,
    inFlight: config.MAX_IN_FLIGHT_PER_TARGET,
    perSecond: config.MAX_PER_SECOND_PER_TARGET,
    hostInFlight: config.MAX_IN_FLIGHT_PER_HOST,
    hostPerSecond: config.MAX_PER_SECOND_PER_HOST,
    totalInFlight: config.MAX_IN_FLIGHT,
    // Whoever takes longer than half of the window is not worth waiting for, nor who cannot be begun with in a quarter.
    slowMs: config.BATCH_WINDOW_MS / 2,
    patienceMs: config.BATCH_WINDOW_MS / 4,
    leaseMs: config.LEASE_MS,
  };
}

/** A click is worth a batch of its own, but a busy topic gives no more than twenty a second, each of which is a commit. */
export function wanted({ BATCH_MAX_RECORDS, BATCH_MAX_BYTES }: Config): Want {
  return {
    minRecords: Math.min(500, BATCH_MAX_RECORDS),
    maxRecords: BATCH_MAX_RECORDS,
    maxBytes: BATCH_MAX_BYTES,
    maxWaitMs: 50,
  };
}
