import type { Metrics } from "@sluice/service/metrics.ts";

/** Keeps the age of the oldest record in hand current, once a second, until disposed. */
export function ageing(
  gauge: ReturnType<Metrics["gauge"]>,
  records: readonly { readonly appendedAt: number }[],
): Disposable {
  const oldest = records.reduce((least, { appendedAt }) => Math.min(least, appendedAt), Infinity);
  const timer = setInterval(() => gauge.set((Date.now() - oldest) / 1_000), 1_000).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      gauge.set(0);
    },
  };
}
