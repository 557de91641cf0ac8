import { storeKind } from "./store-kind.ts";

/** Numbers of a run that nothing accounts for, both ends included. */
export interface Gap {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** When what stands right before and right behind it happened, in ms; 0 where nothing does. */
  readonly fromTs: number;
  readonly toTs: number;
}

export interface Hole extends Gap {
  readonly run: string;
  /** When it was seen first, in ms. */
  readonly foundAt: number;
}

/**
 * `open`: nothing accounts for it yet. `filled`: something did later. `accepted`: a person knows of it, and it alarms
 * nobody any more.
 */
export type HoleState = "open" | "filled" | "accepted";

export interface RunCheck {
  readonly run: string;
  /** Every number up to it is accounted for, or in a hole; 0 before the first check. */
  readonly checkedTo: number;
  /** The `ts` of a click at or below it, above which no click is much older; 0 before the first. */
  readonly checkedTs: number;
}

/** The open holes of one run, added up: those found since a time, and those found before. */
export interface OpenHoles {
  readonly run: string;
  readonly young: { readonly holes: number; readonly numbers: number };
  readonly old: { readonly holes: number; readonly numbers: number };
  /** Numbers in holes that were accepted. */
  readonly accepted: number;
  /** The first number of the young, and when the first of them was found; 0 when there are none. */
  readonly firstYoungSeq: number;
  readonly firstYoungFoundAt: number;
}

/**
 * What is remembered of the numbers of the edges' runs. A number is accounted for by a click, by a refused range, or by
 * a dead letter that says its number. Every method makes one attempt, and rejects with a ClickStoreError or the
 * signal's reason. Several processes may check at once: it costs twice as much, and changes nothing.
 */
export interface RunChecks extends AsyncDisposable {
  /** Notes that numbers of these runs are about to be stored, or were just now. */
  note(runs: readonly string[], signal: AbortSignal): Promise<void>;
  /** Runs that were noted since they were checked last, or less than an hour before; the longest unchecked first. */
  due(limit: number, signal: AbortSignal): Promise<readonly RunCheck[]>;
  /** The least and the greatest number above `after.checkedTo` that is accounted for; undefined when none is. */
  beyond(after: RunCheck, signal: AbortSignal): Promise<{ least: number; greatest: number } | undefined>;
  /**
   * What of `fromSeq` to `toSeq` is not accounted for, in order, at most `limit` gaps; and the `ts` of the last click
   * in this range, 0 without one. Looks at clicks from about `sinceTs` on. Takes memory for the numbers in the range.
   */
  gaps(
    run: string,
    range: { fromSeq: number; toSeq: number; sinceTs: number; limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly gaps: readonly Gap[]; readonly lastTs: number }>;
  /** Remembers how far these runs were checked; a check that had come further stands. */
  save(checks: readonly RunCheck[], signal: AbortSignal): Promise<void>;
  saveHoles(holes: readonly (Hole & { readonly state: HoleState })[], signal: AbortSignal): Promise<void>;
  /** Open holes; any of them when there are more than `limit`. */
  openHoles(limit: number, signal: AbortSignal): Promise<readonly Hole[]>;
  /** By run; at most `limit` runs. */
  addUp(foundSince: number, limit: number, signal: AbortSignal): Promise<readonly OpenHoles[]>;
  /** Of these runs, how many dead letters do not say which number they used up. */
  unnumberedLetters(runs: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
}

/** Rejects only for a URL that cannot be one. */
export async function openRunChecks(url: string): Promise<RunChecks> {
  const adapter =
    storeKind(url) === "Postgres"
      ? await import("./postgres/run-checks.ts")
      : await import("./clickhouse/run-checks.ts");
  return adapter.openRunChecks(url);
}
