import { ClickStoreError } from "../click-store.ts";
import type { Connection } from "./connection.ts";
import { makePartitions } from "./queries/partitions.ts";

/** The first and the last instant of a click's clock, in ms: 2000 and 2100. */
const firstTs = 946_684_800_000;
const lastTs = 4_102_444_800_000;
/** A month's partition is made so long before the month, and no insert waits for it at midnight. */
const aheadMs = 7 * 86_400_000;
/** Each new one takes some ms, and the locks of all that one statement makes have to find room. */
const maxPerStatement = 50;

export interface Months {
  /**
   * Resolves when rows of these times have partitions to go to. Rejects as a Connection does, and with class `row` for a
   * time that is none of a click's.
   */
  ensure(rows: readonly { readonly ts: number }[], signal: AbortSignal): Promise<void>;
  /** One was missing after all: the next call looks at them anew. */
  forget(): void;
}

/**
 * Makes the months that a batch needs, before it is sent; the server is asked once for each. There is no partition for
 * what has none: rows in it would have to be moved, with inserts locked out, before their month could be made.
 */
export function createMonths(connection: Connection, now = Date.now): Months {
  const known = new Set<number>();
  return {
    async ensure(rows, signal) {
      const wanted = monthsOf(rows).add(monthOf(now() + aheadMs).from);
      const missing = [...wanted.difference(known)];
      while (missing.length > 0) {
        const some = missing.splice(0, maxPerStatement);
        await makePartitions(connection, { parent: "click_events", unit: "month", instants: some }, signal);
        for (const month of some) known.add(month);
      }
    },
    forget: () => known.clear(),
  };
}

/** Their first milliseconds. */
function monthsOf(rows: readonly { readonly ts: number }[]): Set<number> {
  const months = new Set<number>();
  let month = { from: 0, to: 0 };
  for (const { ts } of rows) {
    if (ts >= month.from && ts < month.to) continue;
    if (!(ts >= firstTs && ts <= lastTs)) {
      throw new ClickStoreError("row", "22008", "ts is not within the years 2000 to 2100");
    }
    month = monthOf(ts);
    months.add(month.from);
  }
  return months;
}

/** Of UTC; its end is the next one's beginning. */
function monthOf(ts: number): { readonly from: number; readonly to: number } {
  const date = new Date(ts);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}
