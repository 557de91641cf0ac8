import { queryLimit, queryTimeouts, type Reconciliation } from "../reconciliation.ts";
import { connect } from "./connection.ts";
import { selectEventIds, selectEvents, selectHoles } from "./queries/reconciliation.ts";

/** See `Reconciliation`. */
export function openReconciliation(url: string): Reconciliation {
  const connection = connect(url, queryTimeouts);
  return {
    holes: (range) => selectHoles(connection, range, queryLimit()),
    events: (page) => selectEvents(connection, page, queryLimit()),
    stored: (eventIds, range) => selectEventIds(connection, eventIds, range, queryLimit()),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
