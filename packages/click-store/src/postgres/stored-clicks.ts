import { silentLog } from "@sluice/service/log.ts";
import type { StoredClicks } from "../stored-clicks.ts";
import { connect } from "./connection.ts";
import { selectRefusedCount } from "./queries/click-refused-ranges.ts";
import { selectClickCount, selectClicks } from "./queries/stored-clicks.ts";
import { createReader } from "./time-slices.ts";

/** See `openStoredClicks`. */
export function openStoredClicks(url: string): StoredClicks {
  const connection = connect(url, silentLog);
  return {
    read: createReader({
      count: (selection, signal) => selectClickCount(connection, selection, signal),
      first: (selection, page, signal) => selectClicks(connection, selection, page, signal),
    }),
    refusedNumbers: (run, signal) => selectRefusedCount(connection, run, signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
