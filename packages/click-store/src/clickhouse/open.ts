import type { Value } from "../body.ts";
import { clickColumns } from "../click-columns.ts";
import { createClickTable } from "./click-table.ts";
import { ClickStoreError, type ClickStore, type InsertOptions } from "../click-store.ts";
import { connect, type Connection, type Timeouts } from "./connection.ts";
import { ruleOf } from "./errors.ts";
import { insertRepeatable } from "./insert.ts";
import { clickStoreMetrics } from "../metrics.ts";
import type { OpenClickStoreOptions } from "../open.ts";
import { persist } from "../patience.ts";
import { deadLetterValues, insertDeadLettersQuery } from "./queries/click-dead-letters.ts";
import { selectHighest, selectNumbers } from "./queries/click-events.ts";
import { migrationOf } from "./migrate.ts";
import { insertMarksQuery, markValues, type WorkspaceHour } from "./queries/click-rollup-marks.ts";
import { insertRefusedRangesQuery, refusedRangeValues } from "./queries/click-refused-ranges.ts";
import { selectColumns, selectTables } from "./queries/system-tables.ts";
import { createMarker } from "./rollup/marker.ts";

interface ClickHouseOptions extends OpenClickStoreOptions {
  /** For tests that cannot wait as long as the default. */
  readonly timeouts?: Timeouts;
}

/**
 * See `openClickStore`. At `http://user:pass@host:8123/database`; `?compression=zstd` (or `gzip`) where the network
 * is slower than compressing is. `owner` begins the `log_comment` of what it inserts.
 */
export function openClickHouse(url: string, options: ClickHouseOptions): ClickStore {
  const { log, owner = "unnamed", timeouts } = options;
  const connection = connect(url, timeouts);
  const marker = createMarker((hours, signal) => insertMarks(connection, hours, signal));
  const metrics = clickStoreMetrics(options.metrics);
  const clicks = createClickTable({ connection, marker, owner, log, metrics });
  return {
    ping: () => ping(connection),
    encodeClick: (event, enrichment) => clicks.encode(event, enrichment),
    encodeScanned: (click, enrichment) => clicks.encodeScanned(click, enrichment),
    insertClicks: (rows, insertOptions) => clicks.insert(rows, insertOptions),
    markChanged: (rows, signal) => marker.mark(rows, signal),
    insertDeadLetters: (letters, insertOptions) =>
      persistRepeatable(connection, insertDeadLettersQuery, letters, deadLetterValues, insertOptions),
    insertRefusedRanges: (ranges, insertOptions) =>
      persistRepeatable(connection, insertRefusedRangesQuery, ranges, refusedRangeValues, insertOptions),
    highestStored: (run, sinceTs, signal) => selectHighest(connection, run, sinceTs, signal),
    storedNumbers: (run, range, signal) => selectNumbers(connection, run, range, signal),
    earlierInsertsSettled: (signal) => clicks.earlierInsertsSettled(signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Whatever is wrong with a mark, it is not the fault of a click that waits for it. */
async function insertMarks(
  connection: Connection,
  hours: readonly WorkspaceHour[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await insertRepeatable(connection, insertMarksQuery, hours, markValues, signal);
  } catch (error) {
    if (!(error instanceof ClickStoreError) || error.class === "operator") throw error;
    throw new ClickStoreError("retry", 0, `hours cannot be marked as changed: ${error.message}`, {
      cause: error,
    });
  }
}

/** Tried until it is acknowledged, whatever became of the rest. */
async function persistRepeatable<R>(
  connection: Connection,
  query: string,
  rows: readonly R[],
  toValues: (row: R) => readonly Value[],
  options: InsertOptions,
): Promise<void> {
  await persist(() => insertRepeatable(connection, query, rows, toValues, options.signal), {
    ...options,
    sends: "rows",
    ruleOf,
  });
}

const tables = [
  "click_events",
  "click_dead_letters",
  "click_dead_letter_marks",
  "click_refused_ranges",
  "click_erasures",
  "click_rollup",
  "click_rollup_marks",
  "click_holes",
  "clicks",
];

async function ping(connection: Connection): Promise<void> {
  const signal = AbortSignal.timeout(5_000);
  const asked = Promise.all([
    selectTables(connection, signal),
    selectColumns(connection, "click_events", signal),
  ]);
  const [found, columns] = await asked.catch((cause: unknown) => {
    if (!signal.aborted) throw cause;
    throw new ClickStoreError("retry", 0, "no answer within five seconds", { cause });
  });
  const missing = tables.filter((name) => !found.includes(name));
  if (missing.length > 0) {
    throw new ClickStoreError("operator", 60, `no ${missing.join(", no ")}: the migrations have to be run`);
  }
  const column = clickColumns.find((name) => !columns.includes(name));
  if (column !== undefined) {
    const migration = (await migrationOf(column)) ?? "a migration";
    const message = `click_events has no column ${column}: ${migration} has to be applied (sluice migrate)`;
    throw new ClickStoreError("operator", 16, message);
  }
}
