import { storeKind } from "./store-kind.ts";

/** By `ts`, in ms since 1970: from the first, up to but not with the second. */
export interface TimeRange {
  readonly fromTs: number;
  readonly toTs: number;
}

export interface StoredEvent {
  readonly eventId: string;
  readonly ts: number;
}

export interface Hole {
  readonly run: string;
  /** Both ends included. */
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** What whoever compares the table with something else asks it. Rejects with a ClickStoreError; does not retry. */
export interface Reconciliation extends AsyncDisposable {
  /** Numbers of runs between which nothing is stored or was refused, though something before and after them was. */
  holes(range: TimeRange): Promise<readonly Hole[]>;
  /** Events of these workspaces in order of `ts` and id, at most `limit`, behind `after`. */
  events(
    page: TimeRange & {
      readonly workspaceIds: readonly number[];
      readonly after?: StoredEvent;
      readonly limit: number;
    },
  ): Promise<readonly StoredEvent[]>;
  /** Which of these events are stored, looked for in this range. */
  stored(eventIds: readonly string[], range: TimeRange): Promise<ReadonlySet<string>>;
}

/** Opens that of the store that the URL names. Does not ask for the server, which may be away. */
export async function openReconciliation(url: string): Promise<Reconciliation> {
  const adapter =
    storeKind(url) === "Postgres"
      ? await import("./postgres/reconciliation.ts")
      : await import("./clickhouse/reconciliation.ts");
  return adapter.openReconciliation(url);
}

/** A query over a month of a busy table takes less; one over more should be asked by month. */
export const queryTimeouts = { serverMs: 60_000, clientMs: 65_000 };

/** For whatever a connection's own limits do not cover. */
export function queryLimit(): AbortSignal {
  return AbortSignal.timeout(70_000);
}
