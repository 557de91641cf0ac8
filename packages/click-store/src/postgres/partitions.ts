import { ClickStoreError } from "../click-store.ts";
import type { Connection } from "./connection.ts";
import { makePartitions, type Partitioned } from "./queries/partitions.ts";

/** The first and the last instant of a click's clock, in ms: 2000 and 2100. */
const firstTs = 946_684_800_000;
const lastTs = 4_102_444_800_000;
/** Each new one takes some ms, and the locks of all that one statement makes have to find room. */
const maxPerStatement = 50;

export interface Partitions {
  /**
   * Resolves when rows of these times have partitions to go to. Rejects as a Connection does, and with class `row` for a
   * time that is none of a click's.
   */
  ensure(rows: readonly { readonly ts: number }[], signal: AbortSignal): Promise<void>;
  /** One was missing after all: the next call looks at them anew. */
  forget(): void;
}

/**
 * Makes the partitions that a batch needs, before it is sent; the server is asked once for each. One is made `aheadMs`
 * before its time, and no insert waits for it at midnight. There is none for what has none: rows in it would have to be
 * moved, with inserts locked out, before their own could be made.
 */
export function createPartitions(
  connection: Connection,
  table: Partitioned,
  aheadMs: number,
  now = Date.now,
): Partitions {
  const known = new Set<number>();
  const rangeOf = table.unit === "month" ? monthOf : dayOf;

  /** Their first milliseconds. */
  function beginningsOf(rows: readonly { readonly ts: number }[]): Set<number> {
    const found = new Set<number>();
    let range = { from: 0, to: 0 };
    for (const { ts } of rows) {
      if (ts >= range.from && ts < range.to) continue;
      if (!(ts >= firstTs && ts <= lastTs)) {
        throw new ClickStoreError("row", "22008", "ts is not within the years 2000 to 2100");
      }
      range = rangeOf(ts);
      found.add(range.from);
    }
    return found;
  }

  return {
    async ensure(rows, signal) {
      const wanted = beginningsOf(rows).add(rangeOf(now() + aheadMs).from);
      const missing = [...wanted.difference(known)];
      while (missing.length > 0) {
        const some = missing.splice(0, maxPerStatement);
        await makePartitions(connection, table, some, signal);
        for (const each of some) known.add(each);
      }
    },
    forget: () => known.clear(),
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Of UTC; its end is the next one's beginning. */
function monthOf(ts: number): Range {
  const date = new Date(ts);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}

function dayOf(ts: number): Range {
  const from = Math.floor(ts / 86_400_000) * 86_400_000;
  return { from, to: from + 86_400_000 };
}
