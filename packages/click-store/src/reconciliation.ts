import { connect } from "./clickhouse/connection.ts";
import {
  type Hole,
  selectEventIds,
  selectEvents,
  selectHoles,
  type StoredEvent,
  type TimeRange,
} from "./clickhouse/queries/reconciliation.ts";

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

/** A query over a month of a busy table takes less; one over more should be asked by month. */
const timeoutMs = 60_000;

export function openReconciliation(url: string): Reconciliation {
  const connection = connect(url, { serverMs: timeoutMs, clientMs: timeoutMs + 5_000 });
  const limited = () => AbortSignal.timeout(timeoutMs + 10_000);
  return {
    holes: (range) => selectHoles(connection, range, limited()),
    events: (page) => selectEvents(connection, page, limited()),
    stored: (eventIds, range) => selectEventIds(connection, eventIds, range, limited()),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
