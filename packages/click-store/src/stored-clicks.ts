import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import { storeKind } from "./store-kind.ts";

/**
 * A click as it was stored. Equal to what was inserted but for two things: in Postgres U+0000 in a text has become
 * U+FFFD, and what a newer version has added to an event has no column.
 */
export interface StoredClick {
  readonly event: ClickEvent;
  /** As it was when the click was stored. */
  readonly enrichment: Enrichment;
}

/** Numbers of a run, both ends included. */
export interface RunRange {
  readonly run: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Clicks for which all that is given is true. */
export interface ClickSelection {
  /** By `ts`, in ms since 1970: from the first, up to but not with the second. */
  readonly fromTs: number;
  readonly toTs: number;
  readonly workspaceId?: number;
  readonly linkId?: number;
  /** In any of these; at most a hundred. */
  readonly runs?: readonly RunRange[];
}

/** Where a page ended. To be given back as it is, with the same selection. */
export interface ClickCursor {
  readonly workspaceId: number;
  readonly linkId: number;
  readonly ts: number;
  readonly eventId: string;
  /** Where time is gone through in slices, how long the next one is. */
  readonly sliceMs: number;
}

export interface ClickPage {
  readonly clicks: readonly StoredClick[];
  /** Absent when there is nothing left. A page may have fewer clicks than asked for, or none, and more behind it. */
  readonly next?: ClickCursor;
}

/**
 * Reads clicks with all that was stored of them, each once. Every method makes one attempt and rejects with a
 * ClickStoreError or the signal's reason. What was erased is gone; what is asked to be erased and not gone yet is given,
 * so whoever passes clicks on asks `Erasures`, too.
 */
export interface StoredClicks extends AsyncDisposable {
  /**
   * At most `limit` clicks (1 to 10,000), in the order in which the store has them: ClickHouse by workspace, link and
   * time, Postgres by time. So all pages together cost one look at what is selected, and none of them sorts more than a
   * few pages. Clicks stored meanwhile are given when they are behind the cursor.
   */
  read(
    page: ClickSelection & { readonly after?: ClickCursor; readonly limit: number },
    signal: AbortSignal,
  ): Promise<ClickPage>;
  /** How many numbers of a run were used up by clicks that its edge could not journal. */
  refusedNumbers(run: string, signal: AbortSignal): Promise<number>;
}

/** Opens the clicks of the store that the URL names. Rejects only for a URL that cannot be one. */
export async function openStoredClicks(url: string): Promise<StoredClicks> {
  const adapter =
    storeKind(url) === "Postgres"
      ? await import("./postgres/stored-clicks.ts")
      : await import("./clickhouse/stored-clicks.ts");
  return adapter.openStoredClicks(url);
}
