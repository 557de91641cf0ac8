/** The adapter's numbers: the URL's and, beside them, ours. Nobody has needed others so far, except tests. */
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

export function tuningFor({ idleMs }: { readonly idleMs: number }): Tuning {
  return {
    idleMs,
    blockMs: 2000,
    // What is abandoned waits half as long again at most.
    claimEveryMs: idleMs / 2,
    watchEveryMs: 10_000,
    aheadBytes: 8 * 1024 * 1024,
    fetchBytes: 1024 * 1024,
    trimEveryMs: 1000,
  };
}
