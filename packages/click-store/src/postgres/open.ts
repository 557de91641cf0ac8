import { ClickStoreError, type ClickStore } from "../click-store.ts";
import type { OpenClickStoreOptions } from "../open.ts";
import { persist } from "../patience.ts";
import { createClickTable } from "./click-table.ts";
import { connect, type Connection, type Timeouts } from "./connection.ts";
import { ruleOf } from "./errors.ts";
import { insertDeadLetters } from "./queries/click-dead-letters.ts";
import { selectHighest, selectNumbers } from "./queries/click-events.ts";
import { insertRefusedRanges } from "./queries/click-refused-ranges.ts";
import { selectState } from "./queries/state.ts";

interface PostgresOptions extends OpenClickStoreOptions {
  /** For tests that cannot wait as long as the default. */
  readonly timeouts?: Timeouts;
}

/** See `openClickStore`. At `postgres://user:pass@host:5432/database`, with the parameters that libpq takes. */
export function openPostgresStore(url: string, { log, owner, timeouts }: PostgresOptions): ClickStore {
  const connection = connect(url, log, timeouts, owner);
  const clicks = createClickTable(connection);
  return {
    ping: () => ping(connection),
    encodeClick: (event, enrichment) => clicks.encode(event, enrichment),
    insertClicks: (rows, options) => clicks.insert(rows, options),
    // Nothing is counted ahead here.
    markChanged: async (_rows, signal) => signal.throwIfAborted(),
    insertDeadLetters: (letters, options) =>
      inParts(letters, (some) => {
        const insert = () => insertDeadLetters(connection, some, options.signal);
        return persist(insert, { ...options, sends: "rows", ruleOf });
      }),
    insertRefusedRanges: (ranges, options) =>
      inParts(ranges, (some) => {
        const insert = () => insertRefusedRanges(connection, some, options.signal);
        return persist(insert, { ...options, sends: "rows", ruleOf });
      }),
    highestStored: (run, sinceTs, signal) => selectHighest(connection, run, sinceTs, signal),
    storedNumbers: (run, range, signal) => selectNumbers(connection, run, range, signal),
    // One that is still running stores no row a second time, now or later: the key sees to it.
    earlierInsertsSettled: async (signal) => signal.throwIfAborted(),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** A statement's parameters are held in memory in several forms; a letter may have 160 KiB. */
const maxPart = 200;

async function inParts<R>(rows: readonly R[], insert: (some: readonly R[]) => Promise<void>): Promise<void> {
  for (let from = 0; from < rows.length; from += maxPart) await insert(rows.slice(from, from + maxPart));
}

const tables = [
  "click_events",
  "click_dead_letters",
  "click_dead_letter_marks",
  "click_refused_ranges",
  "click_erasures",
  "click_holes",
  "clicks",
];

async function ping(connection: Connection): Promise<void> {
  const signal = AbortSignal.timeout(5_000);
  const { missing, synchronousCommit } = await selectState(connection, tables, signal).catch(
    (cause: unknown) => {
      if (!signal.aborted) throw cause;
      throw new ClickStoreError("retry", 0, "no answer within five seconds", { cause });
    },
  );
  if (missing.length > 0) {
    throw new ClickStoreError(
      "operator",
      "42P01",
      `no ${missing.join(", no ")}: the migrations have to be run`,
    );
  }
  if (synchronousCommit === "off") {
    throw new ClickStoreError(
      "operator",
      0,
      "CLICK_STORE_URL turns synchronous_commit off: a power cut would lose clicks",
    );
  }
}
