/** The middle value; of an even number of them, the mean of the two in the middle. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const below = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const above = sorted[Math.floor(middle)] ?? Number.NaN;
  return (below + above) / 2;
}

/** The least of the values that at least this share (0 to 1) of them does not exceed. NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** How many observations a Prometheus histogram has counted at or below each bound, ascending; the last is all. */
export type Buckets = ReadonlyMap<number, number>;

/** Reads a histogram without labels off what a service gives to be scraped. */
export function readHistogram(metrics: string, name: string): Buckets {
  const line = new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\d+)`, "gm");
  return new Map(
    [...metrics.matchAll(line)].map(([, bound = "", count = ""]) => [
      bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound),
      Number(count),
    ]),
  );
}

/**
 * The bound that this share of what was observed between two readings does not exceed: never less than the true
 * quantile, and more by up to the width of a bucket. NaN when nothing was observed.
 */
export function quantileBetween(before: Buckets, after: Buckets, share: number): number {
  const counts = [...after].map(([bound, count]) => ({ bound, count: count - (before.get(bound) ?? 0) }));
  const all = counts.at(-1)?.count ?? 0;
  if (all === 0) return Number.NaN;
  return counts.find(({ count }) => count >= share * all)?.bound ?? Number.NaN;
}

/** The sum over all labels of a counter or gauge; 0 when it is not there. */
export function readMetric(metrics: string, name: string): number {
  const line = new RegExp(`^${name}(?:\\{[^}]*\\})? ([^ \\n]+)`, "gm");
  return [...metrics.matchAll(line)].reduce((sum, [, value]) => sum + Number(value), 0);
}
