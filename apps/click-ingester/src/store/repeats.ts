import type { ClickStore } from "@sluice/click-store/click-store.ts";

/** What the search for repeats asks the table. */
export type StoredClicks = Pick<ClickStore, "highestStored" | "storedNumbers" | "earlierInsertsSettled">;

/** All that matters here of a click. */
export interface Numbered {
  readonly edge_run: string;
  readonly edge_seq: number;
  readonly ts: number;
}

export interface Repeats {
  /**
   * Call with each batch, before anything else. Another epoch means that another owner may have stored what we
   * do not know of: what is remembered is void.
   */
  enter(epoch: number): void;
  /**
   * Which of these clicks have to be inserted: each (run, number) once, without those that the table has. Reads
   * the table only for a run not met before and for what may be a repeat. Rejects as the table's calls do.
   */
  missing<C extends Numbered>(clicks: readonly C[], signal: AbortSignal): Promise<C[]>;
  /** Those of these clicks that the table does not have, whatever is remembered: all of them are looked up. */
  notStored<C extends Numbered>(clicks: readonly C[], signal: AbortSignal): Promise<C[]>;
  /** Call when the table has acknowledged these clicks, and not before. */
  stored(clicks: readonly Numbered[]): void;
}

export interface RepeatsOptions {
  /** Told how many clicks were looked up and how many of them the table had already. */
  readonly onLookUp: (lookedUp: number, found: number) => void;
  /** Told of clicks that came twice in one call of `missing`. */
  readonly onTwice: (count: number) => void;
  /** How many runs are remembered, the least recently met forgotten first; one costs about 200 bytes. */
  readonly maxRuns?: number;
  /** The widest range of numbers of one look-up: it bounds the answer. */
  readonly maxRange?: number;
}

/**
 * What is remembered of a run: no click with `ts` at or after `sinceTs` and a number above `highest` is stored.
 *
 * True when read, since `highest` was asked for from `sinceTs` on; kept true by `stored`, which raises `highest`.
 * A click that breaks either bound may still be new, so it is looked up, never dropped. This needs no order of
 * the records and no honest clock: only that a repeat carries the number and `ts` of its twin.
 */
interface Run {
  readonly sinceTs: number;
  highest: number;
}

/** For one reader: calls must not overlap. */
export function createRepeats(table: StoredClicks, options: RepeatsOptions): Repeats {
  const { onLookUp, onTwice, maxRuns = 10_000, maxRange = 20_000 } = options;
  /** The least recently met first. */
  const runs = new Map<string, Run>();
  let epoch: number | undefined;
  let settled = false;

  async function meet(name: string, clicks: readonly Numbered[], signal: AbortSignal): Promise<Run> {
    const sinceTs = least(clicks, timeOf);
    const run = runs.get(name) ?? { sinceTs, highest: await table.highestStored(name, sinceTs, signal) };
    makeNewest(runs, name, run, maxRuns);
    return run;
  }

  async function lookUp<C extends Numbered>(name: string, clicks: readonly C[], signal: AbortSignal) {
    const missing: C[] = [];
    for (const group of ranges(clicks, maxRange)) {
      const range = {
        fromSeq: least(group, numberOf),
        toSeq: greatest(group, numberOf),
        fromTs: least(group, timeOf),
        toTs: greatest(group, timeOf),
      };
      const stored = await table.storedNumbers(name, range, signal);
      for (const click of group) if (!stored.has(click.edge_seq)) missing.push(click);
    }
    onLookUp(clicks.length, clicks.length - missing.length);
    return missing;
  }

  return {
    enter(current) {
      if (current === epoch) return;
      epoch = current;
      runs.clear();
      settled = false;
    },
    async missing(clicks, signal) {
      if (!settled) await table.earlierInsertsSettled(signal);
      settled = true;
      const missing = [];
      for (const [name, ofRun] of byRun(clicks)) {
        const once = onceEach(ofRun);
        if (once.length < ofRun.length) onTwice(ofRun.length - once.length);
        const run = await meet(name, once, signal);
        const doubtful: typeof once = [];
        for (const click of once) (isNew(click, run) ? missing : doubtful).push(click);
        if (doubtful.length > 0) missing.push(...(await lookUp(name, doubtful, signal)));
      }
      return missing;
    },
    async notStored(clicks, signal) {
      const missing = [];
      for (const [name, ofRun] of byRun(clicks)) missing.push(...(await lookUp(name, ofRun, signal)));
      return missing;
    },
    stored(clicks) {
      for (const { edge_run, edge_seq } of clicks) {
        const run = runs.get(edge_run);
        // A run forgotten meanwhile is read again: without its `sinceTs` a number alone says nothing.
        if (run !== undefined && edge_seq > run.highest) run.highest = edge_seq;
      }
    },
  };
}

/** A map keeps the order in which its entries were set. */
function makeNewest<Value>(map: Map<string, Value>, name: string, value: Value, maxEntries: number): void {
  map.delete(name);
  map.set(name, value);
  for (const oldest of map.keys()) {
    if (map.size <= maxEntries) return;
    map.delete(oldest);
  }
}

function byRun<C extends Numbered>(clicks: readonly C[]): Map<string, C[]> {
  return Map.groupBy(clicks, ({ edge_run }) => edge_run);
}

function isNew({ edge_seq, ts }: Numbered, { highest, sinceTs }: Run): boolean {
  return edge_seq > highest && ts >= sinceTs;
}

const numberOf = ({ edge_seq }: Numbered) => edge_seq;
const timeOf = ({ ts }: Numbered) => ts;

/** Not `Math.min(...)`: a batch has more clicks than a call may have arguments. */
function least(clicks: readonly Numbered[], of: (click: Numbered) => number): number {
  return clicks.reduce((low, click) => Math.min(low, of(click)), Infinity);
}

function greatest(clicks: readonly Numbered[], of: (click: Numbered) => number): number {
  return clicks.reduce((high, click) => Math.max(high, of(click)), 0);
}

/** The first click of each number. */
function onceEach<C extends Numbered>(clicks: readonly C[]): C[] {
  const seen = new Set<number>();
  return clicks.filter(({ edge_seq }) => seen.size < seen.add(edge_seq).size);
}

/** Groups of ascending numbers, none wider than `width`. */
function ranges<C extends Numbered>(clicks: readonly C[], width: number): C[][] {
  const groups: C[][] = [];
  let from = -Infinity;
  for (const click of clicks.toSorted((a, b) => numberOf(a) - numberOf(b))) {
    if (numberOf(click) - from >= width) {
      from = numberOf(click);
      groups.push([]);
    }
    groups.at(-1)?.push(click);
  }
  return groups;
}
