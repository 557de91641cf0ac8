import { checkLimit, cursorAt } from "../stored-click.ts";
import type { ClickCursor, ClickPage, ClickSelection, StoredClick, StoredClicks } from "../stored-clicks.ts";

/** What is asked of the table. */
export interface ClickSource {
  /** How many rows are in it, repeats counted. */
  readonly count: (selection: ClickSelection, signal: AbortSignal) => Promise<number>;
  /** The first `limit` in order behind a click. */
  readonly first: (
    selection: ClickSelection,
    page: { readonly after: ClickCursor; readonly limit: number },
    signal: AbortSignal,
  ) => Promise<readonly StoredClick[]>;
}

/** A minute, of which a host has something, and a month, which is what a partition holds. */
const firstSliceMs = 60_000;
const maxSliceMs = 31 * 86_400_000;
/** A slice with so many times a page is cut before any of it is sorted. */
const maxPages = 4;
const nil = "00000000-0000-0000-0000-000000000000";

/**
 * See `StoredClicks.read`. The table is mostly in order of time, but no index is by time alone. A count is asked before
 * each slice, so that one with a burst in it is cut before it is sorted.
 */
export function createReader({ count, first }: ClickSource): StoredClicks["read"] {
  return async ({ after, limit, ...selection }, signal): Promise<ClickPage> => {
    checkLimit(limit);
    const { toTs } = selection;
    const clicks: StoredClick[] = [];
    let at = after ?? beginningOf(selection.fromTs, firstSliceMs);
    while (at.ts < toTs && clicks.length < limit) {
      const slice = { ...selection, fromTs: at.ts, toTs: Math.min(at.ts + at.sliceMs, toTs) };
      const rows = await count(slice, signal);
      const sliceMs = nextSliceMs(slice.toTs - slice.fromTs, rows, limit);
      if (rows > maxPages * limit && sliceMs < slice.toTs - slice.fromTs) {
        at = { ...at, sliceMs };
        continue;
      }
      const wanted = limit - clicks.length;
      const found = rows === 0 ? [] : await first(slice, { after: at, limit: wanted }, signal);
      clicks.push(...found);
      const last = found.length < wanted ? undefined : found.at(-1);
      at = last === undefined ? beginningOf(slice.toTs, sliceMs) : cursorAt(last, sliceMs);
    }
    return at.ts < toTs ? { clicks, next: at } : { clicks };
  };
}

/** Nothing of this time is given yet. */
function beginningOf(ts: number, sliceMs: number): ClickCursor {
  return { workspaceId: 0, linkId: 0, ts, eventId: nil, sliceMs };
}

/** Of one that had so many rows, how long the next should be for two pages; it grows by steps, as clicks come in bursts. */
function nextSliceMs(sliceMs: number, rows: number, limit: number): number {
  const fitting = rows === 0 ? Infinity : (sliceMs * 2 * limit) / rows;
  return Math.ceil(Math.max(1, Math.min(fitting, sliceMs * 8, maxSliceMs)));
}
