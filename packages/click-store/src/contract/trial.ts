import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { ClickRow, ClickStore, InsertOptions, Trouble } from "../click-store.ts";
import { enrichment, eventsOf } from "../testing/clicks.ts";

/** One adapter on its real server, as the contract suite sees it. */
export interface ContractSubject extends AsyncDisposable {
  /** Of a database of its own with all tables. */
  readonly url: string;
  /** By way of a proxy where a URL is given; the limits of a statement, in ms, where they are. */
  readonly open: (url?: string, timeouts?: { serverMs: number; clientMs: number }) => ClickStore;
  /** Of a run: rows in the table, repeats counted; different events among them; rows that analysts see. */
  count(run: string): Promise<{ rows: number; events: number; visible: number }>;
  /** A run's clicks as analysts see them, in order of number: values in order of `clickColumns`, `ts` in ms. */
  clicks(run: string): Promise<unknown[]>;
  /** What it makes of a text, apart from surrogates without their other half. */
  storedText(text: string): string;
  /** Deletes from the table, as erasing does, what a visitor has in a run. */
  deleteClicks(run: string, visitor: string): Promise<void>;
  /** Counts for the statistics whatever is counted ahead, however lately it has changed. */
  countAhead(): Promise<void>;
  renameTable(from: string, to: string): Promise<void>;
  /** Adds to `click_events` what a newer version may add to it. */
  addColumn(name: string): Promise<void>;
  /** Takes away what earlier cases have left, where it would make later ones slow. */
  readonly clear?: () => Promise<void>;
  /** Absent where the server is not the test's own. */
  readonly server?: { kill(): Promise<void>; start(): Promise<void> };
}

/** What one case works with; what it opens is closed behind it. */
export interface Trial {
  readonly subject: ContractSubject;
  readonly store: ClickStore;
  readonly open: ContractSubject["open"];
  /** What went wrong so far, as the store's callers hear of it. */
  readonly troubles: Trouble[];
  readonly options: InsertOptions;
  readonly rowOf: (event: ClickEvent) => ClickRow;
  /** See `eventsOf`. */
  readonly rowsOf: (...of: Parameters<typeof eventsOf>) => ClickRow[];
}

export async function withTrial(
  subject: ContractSubject,
  run: (trial: Trial) => Promise<void>,
): Promise<void> {
  await subject.clear?.();
  await using opened = new AsyncDisposableStack();
  const store = opened.use(subject.open());
  const troubles: Trouble[] = [];
  const rowOf = (event: ClickEvent) => store.encodeClick(event, enrichment);
  await run({
    subject,
    store,
    open: (url, timeouts) => opened.use(subject.open(url, timeouts)),
    troubles,
    options: { signal: never, onTrouble: (trouble) => troubles.push(trouble) },
    rowOf,
    rowsOf: (...of) => eventsOf(...of).map(rowOf),
  });
}

export const never = new AbortController().signal;

/** Every row once, and seen once. */
export function once(rows: number): { rows: number; events: number; visible: number } {
  return { rows, events: rows, visible: rows };
}
