import type { OpenClickStoreOptions } from "./open.ts";
import { storeKind } from "./store-kind.ts";

/** One attempt to deliver an event to a target. Times in ms since 1970. */
export interface Attempt {
  readonly eventId: string;
  readonly eventType: string;
  /** `ep_1`, `px_1`, `in_1` */
  readonly target: string;
  readonly workspaceId: number;
  /** When it was started. */
  readonly ts: number;
  /** From 1. */
  readonly number: number;
  readonly replayed: boolean;
  /** `delivered`, `failed`, `refused`, `unknown`, `skipped` */
  readonly outcome: string;
  /** Why; empty for delivered. */
  readonly code: string;
  /** HTTP status, 0 for none. */
  readonly status: number;
  readonly durationMs: number;
  /** When it is tried again; 0 for never. */
  readonly nextAt: number;
  /** Only text, of which 1 KiB is kept. */
  readonly response: string;
}

/** Where attempts are written. Methods reject with a ClickStoreError or the signal's reason, and do not retry. */
export interface AttemptLog extends AsyncDisposable {
  /**
   * One insert. The same attempts may be written again, whatever became of them the last time: one that is there stays
   * one. At most a few thousand.
   */
  write(attempts: readonly Attempt[], signal: AbortSignal): Promise<void>;
  /**
   * To be called about once an hour, by as many processes as there are: makes room for the coming day and drops what
   * is too old, where the store does not do so by itself. Postgres keeps seven days, ClickHouse thirty.
   */
  keep(now: number, signal: AbortSignal): Promise<void>;
}

/** Opens that of the store that the URL names. Does not ask for the server. Rejects only for a URL that cannot be one. */
export async function openAttemptLog(url: string, { log }: OpenClickStoreOptions): Promise<AttemptLog> {
  if (storeKind(url) === "Postgres") {
    const { openPostgresAttemptLog } = await import("./postgres/attempts.ts");
    return openPostgresAttemptLog(url, log);
  }
  const { openClickHouseAttemptLog } = await import("./clickhouse/attempts.ts");
  return openClickHouseAttemptLog(url);
}

/** Attempts for which all that is given is true. */
export interface AttemptFilter {
  /** By `ts`: from the first, up to but not with the second. */
  readonly fromTs: number;
  readonly toTs: number;
  readonly target?: string;
  readonly workspaceId?: number;
  readonly eventId?: string;
  readonly outcome?: string;
}

/** What of an attempt is its identity. */
export type AttemptKey = Pick<Attempt, "target" | "ts" | "eventId" | "number">;

export interface TargetSummary {
  readonly target: string;
  readonly workspaceId: number;
  readonly attempts: number;
  readonly delivered: number;
  readonly failed: number;
  readonly refused: number;
  readonly unknown: number;
  readonly skipped: number;
  /** Of those that were sent, which are all but the skipped; 1 where none was. */
  readonly successRate: number;
  /** Of those that were sent, in ms; 0 where none was. In ClickHouse within about 1 %. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * What a delivery log shows. Makes one attempt. Rejects with a RangeError for a limit that is not 1 to 1,000, else with
 * a ClickStoreError or the signal's reason.
 */
export interface Attempts extends AsyncDisposable {
  /**
   * The latest first, behind `after`. With a target, and in Postgres with a workspace or an event, it costs what it
   * returns; else a look at the days that it goes through.
   */
  list(
    filter: AttemptFilter,
    page: { readonly limit: number; readonly after?: AttemptKey },
    signal: AbortSignal,
  ): Promise<readonly Attempt[]>;
  /** The targets with the most attempts that were sent and not delivered first. Costs a look at all that it sums up. */
  summary(
    filter: AttemptFilter,
    page: { readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly TargetSummary[]>;
}

/** Opens the delivery log of the store that the URL names. Rejects only for a URL that cannot be one. */
export async function openAttempts(url: string): Promise<Attempts> {
  const adapter =
    storeKind(url) === "Postgres"
      ? await import("./postgres/attempts.ts")
      : await import("./clickhouse/attempts.ts");
  return adapter.openAttempts(url);
}
