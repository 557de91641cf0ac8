import type { Findings } from "@sluice/click-store/check-runs.ts";
import type { Metrics } from "@sluice/service/metrics.ts";

/** What the reconciler has found. Every ingester says the same. */
export function reconcileMetrics(metrics: Metrics) {
  const holes = metrics.gauge("reconcile_holes", "Holes in the numbers of runs.", ["state"]);
  const numbers = metrics.gauge(
    "reconcile_missing_numbers",
    "Numbers of runs that nothing accounts for: suspected while they may be under way, then missing; explained where " +
      "as many dead letters do not say their number.",
    ["state"],
  );
  const runs = metrics.gauge("reconcile_runs_checked", "Runs that the last pass looked at.");
  const unverified = metrics.gauge(
    "reconcile_unverified_numbers",
    "Numbers at or above the first of their run that is suspected or was not looked at.",
  );
  const oldest = metrics.gauge(
    "reconcile_oldest_suspected_seconds",
    "Since the oldest hole that is still suspected was seen first; 0 while none is.",
  );
  const passes = metrics.counter("reconcile_passes_total", "Passes of the reconciler.", ["outcome"]);
  const lastPass = metrics.gauge(
    "reconcile_last_pass_timestamp_seconds",
    "When a pass was finished last, since 1970.",
  );
  return {
    found({ suspected, missing, explained, ...found }: Findings): void {
      holes.set({ state: "suspected" }, suspected.holes);
      holes.set({ state: "missing" }, missing.holes);
      numbers.set({ state: "suspected" }, suspected.numbers);
      numbers.set({ state: "missing" }, missing.numbers);
      numbers.set({ state: "explained" }, explained);
      runs.set(found.runs);
      unverified.set(found.unverified);
      oldest.set(found.oldestSuspectedMs / 1_000);
      passes.inc({ outcome: "done" });
      lastPass.set(Date.now() / 1_000);
    },
    failed: () => passes.inc({ outcome: "failed" }),
  };
}
