import { encodeClick } from "@sluice/click-event/encode.ts";
import type { ClickCursor, RunRange, StoredClicks } from "@sluice/click-store/stored-clicks.ts";
import type { OwedNote } from "@sluice/event-log/journal-owed.ts";
import { sleep } from "@sluice/service/retry.ts";
import type { FanOutAgain } from "./fan-out-again.ts";

export interface GivingOptions {
  readonly clicks: StoredClicks;
  readonly again: Pick<FanOutAgain, "pass">;
  /** These have been passed on, and are owed no more. */
  readonly given: (notes: readonly OwedNote[]) => Promise<void>;
  /** Clicks a second, over all of it. */
  readonly rate: number;
  readonly signal: AbortSignal;
}

export interface Giving {
  /** Clicks of the ranges so far. */
  readonly records: () => number;
  /** The `ts` of the last of them, in ms; 0 before the first. */
  readonly reached: () => number;
  /** How many ranges are no edge's: nobody knows which clicks were in them. */
  readonly unknown: number;
  /** Resolves when all is given, or the signal aborts. */
  readonly done: Promise<void>;
}

/** Ranges that are looked for together: in ClickHouse one look costs as much as many. */
const maxRanges = 100;
const pageSize = 2_000;
/** Numbers say which clicks are meant; the time, by the edge's clock, only where to look. */
const slackMs = 3_600_000;
/** The earliest `ts` of a click. */
const firstTs = Date.UTC(2000, 0);

/** Passes on what a journal owes, read from the table. Ranges that are given are noted as it goes on. */
export function giveOwed(owed: readonly OwedNote[], options: GivingOptions): Giving {
  const { clicks, again, given, rate, signal } = options;
  // An edge's run has the name that its clicks carry.
  const known = owed.filter(({ run }) => isUuid.test(run)).toSorted((a, b) => a.fromMs - b.fromMs);
  const startedAt = performance.now();
  let records = 0;
  let reached = 0;

  async function giveSome(notes: readonly OwedNote[]): Promise<void> {
    const runs: RunRange[] = [];
    for (const note of notes) runs.push(await rangeOf(note, clicks, signal));
    const selection = {
      runs,
      fromTs: Math.max(firstTs, Math.min(...notes.map(({ fromMs }) => fromMs)) - slackMs),
      toTs: Math.max(...notes.map(({ toMs }) => toMs)) + slackMs,
    };
    let after: ClickCursor | undefined;
    do {
      const limit = Math.min(pageSize, rate);
      const page = await clicks.read({ ...selection, limit, ...(after && { after }) }, signal);
      await again.pass(
        page.clicks.map(({ event }) => encodeClick(event)),
        signal,
      );
      records += page.clicks.length;
      reached = page.clicks.at(-1)?.event.ts ?? reached;
      after = page.next;
      const dueInMs = startedAt + (records / rate) * 1_000 - performance.now();
      if (dueInMs > 0) await sleep(dueInMs, signal);
    } while (after !== undefined);
    await given(notes);
  }

  async function giveAll(): Promise<void> {
    try {
      for (let from = 0; from < known.length; from += maxRanges)
        await giveSome(known.slice(from, from + maxRanges));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  return {
    records: () => records,
    reached: () => reached,
    unknown: owed.length - known.length,
    done: giveAll(),
  };
}

const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A journal counts its records, and an edge its clicks. The two differ by clicks that it could not journal, which have a
 * number and no record; their ranges have a record, later. So a click's number is its record's, or higher by at most all
 * of these; where there were any, some neighbours are given again.
 */
async function rangeOf(note: OwedNote, clicks: StoredClicks, signal: AbortSignal): Promise<RunRange> {
  const { run, fromSeq, toSeq } = note;
  if (toSeq === undefined) return { run, fromSeq, toSeq: Number.MAX_SAFE_INTEGER };
  return { run, fromSeq, toSeq: toSeq + (await clicks.refusedNumbers(run, signal)) };
}
