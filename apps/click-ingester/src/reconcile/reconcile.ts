import { checkRuns, type Findings } from "@sluice/click-store/check-runs.ts";
import type { RunChecks } from "@sluice/click-store/run-checks.ts";
import type { Log } from "@sluice/service/log.ts";
import type { Service } from "@sluice/service/run-service.ts";
import type { Config } from "../config.ts";
import { makePasses } from "../passes.ts";
import { reconcileMetrics } from "./metrics.ts";

/**
 * Checks the numbers of all runs that clicks come from, again and again, until told to stop. A store that is away is
 * waited for. One process is enough, and several do no harm.
 */
export async function reconcile(service: Service<Config>, checks: RunChecks): Promise<void> {
  const { config, log, signal } = service;
  const metrics = reconcileMetrics(service.metrics);
  const passes = {
    what: "reconciler",
    failing: "the numbers of runs cannot be checked",
    over: "the numbers of runs are checked again",
    everyMs: config.RECONCILE_EVERY_MS,
    failed: metrics.failed,
    log,
    signal,
  };
  let before = 0;
  await makePasses(passes, async () => {
    const findings = await checkRuns(checks, { signal, graceMs: config.RECONCILE_GRACE_MS });
    metrics.found(findings);
    before = say(findings, before, log);
  });
}

/** Once for each loss, and not at every pass. */
function say({ missing, suspected }: Findings, before: number, log: Log): number {
  if (missing.numbers > before)
    log.error(
      { ...missing, suspected: suspected.numbers },
      "clicks are missing: sluice reconcile says which",
    );
  return missing.numbers;
}
