import type { ClickStore, DeadLetter, Trouble } from "@sluice/click-store/click-store.ts";
import type { ErasedRange, Erasures } from "@sluice/click-store/erasures.ts";
import { patiently } from "@sluice/service/retry.ts";
import { insertGoodRows } from "@sluice/click-store/bisect.ts";
import type { IngestMetrics } from "./metrics.ts";
import { onStoreTrouble } from "./patience.ts";
import { type Click, type Origin, type Prepared, deadLetter } from "./prepare.ts";
import { createRepeats } from "./repeats.ts";
import type { RunNotes } from "./run-notes.ts";
import type { TroubleWatch } from "./trouble.ts";

/** What the store loop needs of the click store. */
export type Table = Omit<ClickStore, "ping" | "encodeClick" | typeof Symbol.asyncDispose>;

export interface SliceStore {
  /** Call with each batch: another epoch voids what is remembered of the table. */
  enter(epoch: number): void;
  /**
   * Resolves when the table has every click of the slice once, and the rest is kept beside it: refused ranges,
   * and a dead letter for each record that is not a click or that the table refuses. Waits for a store that is
   * away. Rejects once the signal aborts; part of the slice may be stored then. One call at a time.
   */
  store(slice: Prepared, signal: AbortSignal): Promise<void>;
}

export interface SliceStoreOptions {
  readonly table: Table;
  /** Told of the runs of what is stored, for whoever checks their numbers. */
  readonly runs: RunNotes;
  /** Told of the numbers of what was erased and came again. */
  readonly erasures: Pick<Erasures, "noteErased">;
  readonly origin: Origin;
  readonly trouble: Pick<TroubleWatch, "seen" | "over">;
  readonly metrics: IngestMetrics;
}

export function createSliceStore(options: SliceStoreOptions): SliceStore {
  const { table, runs, erasures, origin, trouble, metrics } = options;
  const repeats = createRepeats(table, {
    onTwice: (count) => metrics.twice.inc(count),
    onLookUp: (lookedUp, found) => {
      metrics.lookedUp.inc(lookedUp);
      metrics.found.inc(found);
    },
  });

  const onTrouble = (each: Trouble) => trouble.seen(each);

  async function insertClicks(clicks: readonly Click[], signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    await table.insertClicks(clicks, { signal, onTrouble });
    metrics.insertSeconds.observe((performance.now() - startedAt) / 1_000);
    metrics.rowsPerInsert.observe(clicks.length);
    metrics.rows.inc(clicks.length);
    metrics.lag.set((Date.now() - clicks.reduce((newest, { ts }) => Math.max(newest, ts), 0)) / 1_000);
  }

  async function insertDeadLetters(letters: readonly DeadLetter[], signal: AbortSignal): Promise<void> {
    await table.insertDeadLetters(letters, { signal, onTrouble });
    for (const { reason } of letters) metrics.deadLetters.inc({ reason });
  }

  return {
    enter: (epoch) => repeats.enter(epoch),
    async store(slice, signal) {
      try {
        await storeSlice(slice, signal);
      } finally {
        // Also when the slice is no longer ours: nothing of ours waits for the store now.
        trouble.over();
      }
    },
  };

  async function storeSlice(slice: Prepared, signal: AbortSignal): Promise<void> {
    const { clicks, ranges, letters, erased } = slice;
    for (const { reason } of letters) metrics.decodeErrors.inc({ reason });
    const waiting = { signal, waitOn: onStoreTrouble(onTrouble) };
    const names = runsOf(slice);
    await patiently(() => runs.note(names, signal), waiting);
    await patiently(() => erasures.noteErased(joined(erased), signal), waiting);
    metrics.erased.inc(erased.length);
    const missing = await patiently(() => repeats.missing(clicks, signal), waiting);
    if (missing.length < clicks.length) await patiently(() => table.markChanged(clicks, signal), waiting);
    const refused = await insertGoodRows(missing, {
      insert: (some) => insertClicks(some, signal),
      missing: (some) => patiently(() => repeats.notStored(some, signal), waiting),
    });
    repeats.stored(missing);

    const unstorable = refused.map(({ row, error }) =>
      deadLetter(row.record, origin, {
        reason: "refused-by-table",
        error: `code ${error.code}: ${error.message}`,
        number: row.edge_seq,
      }),
    );
    if (letters.length + unstorable.length > 0) await insertDeadLetters([...letters, ...unstorable], signal);
    if (ranges.length > 0) await table.insertRefusedRanges(ranges, { signal, onTrouble });
    // Once more when it has taken so long that nobody may look at these runs any more.
    await patiently(() => runs.note(names, signal), waiting);
    for (const { reason, from_seq, to_seq } of ranges) metrics.refused.inc({ reason }, to_seq - from_seq + 1);
  }
}

function runsOf({ clicks, ranges, erased }: Prepared): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const { edge_run } of clicks) runs.add(edge_run);
  for (const { edge_run } of ranges) runs.add(edge_run);
  for (const { run } of erased) runs.add(run);
  return runs;
}

/** Numbers that follow each other, as they mostly do in the order of the log, as one range. */
function joined(ranges: readonly ErasedRange[]): ErasedRange[] {
  const all: { run: string; fromSeq: number; toSeq: number }[] = [];
  for (const { run, fromSeq, toSeq } of ranges) {
    const last = all.at(-1);
    if (last?.run === run && last.toSeq + 1 === fromSeq) last.toSeq = toSeq;
    else all.push({ run, fromSeq, toSeq });
  }
  return all;
}
