/** The adapter's numbers. Nobody has needed others so far, except tests. */
export interface Tuning {
  /** Entries that their member has not renewed for so long are taken over by another. */
  readonly idleMs: number;
  /** How long a read waits on the server for the first entry; whatever else the reader has to do waits with it. */
  readonly blockMs: number;
  /** How often a reader looks for such entries. */
  readonly claimEveryMs: number;
  /** How often a reader measures, trims, and forgets members that are gone. */
  readonly watchEveryMs: number;
  /** Memory for what a reader has fetched ahead: half a second of the fastest reading. */
  readonly aheadBytes: number;
  /** What one read should bring; how many entries that are goes by the largest of the last read. */
  readonly fetchBytes: number;
  /** Trimming after commits: no oftener than this. */
  readonly trimEveryMs: number;
}

export const defaultTuning: Tuning = {
  idleMs: 60_000,
  blockMs: 2000,
  claimEveryMs: 30_000,
  watchEveryMs: 10_000,
  aheadBytes: 8 * 1024 * 1024,
  fetchBytes: 1024 * 1024,
  trimEveryMs: 1000,
};
