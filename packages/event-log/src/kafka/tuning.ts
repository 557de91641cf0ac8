/** The adapter's numbers. Nobody has needed others so far, except tests. */
export interface Tuning {
  /** How long an append may take before it rejects with `unavailable`. */
  readonly appendMs: number;
  /** How long a commit may take before it rejects with `unavailable`. */
  readonly commitMs: number;
  /** Memory for what a reader has fetched ahead: a fifth of a second of the fastest reading. */
  readonly aheadBytes: number;
  /** Most that is fetched of one partition at once, still compressed; of one broker it is four times as much. */
  readonly fetchBytes: number;
  /** Without a heartbeat for so long a member counts as dead, and its partitions go to others. */
  readonly sessionMs: number;
  readonly heartbeatMs: number;
  /** How long a rebalance waits for a member. */
  readonly rebalanceMs: number;
  /** How often a reader asks where its topic ends, for the lag. */
  readonly pollMs: number;
  /** A reader that is behind, is asked for records, and has fetched none for so long, is stuck. */
  readonly stuckMs: number;
}

export const defaultTuning: Tuning = {
  appendMs: 30_000,
  commitMs: 15_000,
  aheadBytes: 6 * 1024 * 1024,
  fetchBytes: 128 * 1024,
  sessionMs: 10_000,
  heartbeatMs: 3000,
  rebalanceMs: 60_000,
  pollMs: 5000,
  stuckMs: 30_000,
};
