/**
 * What Postgres notes when a link, a domain or a subscription is written, by whomever. A position stands between transactions: all
 * that are below it have ended, and are seen by whoever reads the tables after the position was read.
 */

export interface NotedChange {
  readonly id: number;
  /** Of the transaction that wrote it. A reading at a position above it has seen the change. */
  readonly position: number;
  /** Milliseconds since it was written, by the clock of Postgres. */
  readonly ageMs: number;
  /** With both it is a link; without a slug the domain's settings; with nothing at all it may be anything. */
  readonly domain: string | null;
  readonly slug: string | null;
  readonly subject: "subscriptions" | null;
}

export interface ChangePage {
  readonly position: number;
  /** Newest first. */
  readonly changes: readonly NotedChange[];
}

export interface ChangeLog {
  /**
   * Up to `limit` of the newest changes by transactions at or above a position that was read before; 0 for all that
   * are kept, an hour or more. Some may come again while a transaction that is older than they are is open. Takes
   * half a second at most.
   */
  changes(after: number, limit: number): Promise<ChangePage>;
}

/** Rung when a transaction that noted a change has committed. */
export const changesChannel = "sluice_changes";
