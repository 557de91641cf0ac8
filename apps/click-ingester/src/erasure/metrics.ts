import type { Erased } from "@sluice/click-store/erase.ts";
import type { Metrics } from "@sluice/service/metrics.ts";

/** What is erased, and what is still to be. */
export function erasureMetrics(metrics: Metrics) {
  const clicks = metrics.counter(
    "erasure_clicks_total",
    "Stored clicks erased by this process, for their age or on somebody's request.",
  );
  const letters = metrics.counter("erasure_dead_letters_total", "Dead letters erased by this process.");
  const pending = metrics.gauge("erasure_pending", "Erasures that are asked for and not carried out yet.");
  const passes = metrics.counter("erasure_passes_total", "Looks for what has to be erased.", ["outcome"]);
  const lastPass = metrics.gauge(
    "erasure_last_pass_timestamp_seconds",
    "When all that was due was erased last, since 1970.",
  );
  return {
    done(erased: Erased): void {
      clicks.inc(erased.clicks);
      letters.inc(erased.letters);
      pending.set(erased.pending);
      passes.inc({ outcome: "done" });
      lastPass.set(Date.now() / 1_000);
    },
    failed: () => passes.inc({ outcome: "failed" }),
  };
}
