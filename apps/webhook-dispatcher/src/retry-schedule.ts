/**
 * The pauses before each attempt that the Standard Webhooks specification gives as its example: 75.6 hours in all, so that
 * an endpoint may be down for a weekend.
 */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const pausesMs = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** What failed together is not tried again together; upwards alone, so that the published pauses are minima. */
const jitter = 0.1;

/**
 * When the next attempt is due, ms since 1970, after `made` of them were made; undefined when that was the last one.
 * `random`: at least 0, below 1.
 */
export function nextAttempt(made: number, now: number, random: () => number): number | undefined {
  const pause = pausesMs[made];
  return pause === undefined ? undefined : now + Math.ceil(pause * (1 + jitter * random()));
}
