import type { LetterKey } from "./dead-letters.ts";
import { storeKind } from "./store-kind.ts";

/** Clicks of a workspace, of one link of it, or of one visitor, up to a time. */
export interface Erasure {
  readonly workspaceId: number;
  readonly linkId?: number;
  /** The number that clicks carry, 32 hexadecimal digits. */
  readonly visitor?: string;
  /** By a click's `ts`, in ms since 1970, this one included. */
  readonly upTo: number;
}

export interface StoredErasure extends Erasure {
  /** Since it was asked for last, in ms by the server's clock. */
  readonly ageMs: number;
  /** All that was stored of it when it was carried out is gone. */
  readonly done: boolean;
}

/** Numbers of a run, both ends included. */
export interface ErasedRange {
  readonly run: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/**
 * What of the clicks has to be gone, and to stay away whoever reads the event log again. `erase.ts` carries it out.
 * Every method makes one attempt but where it says so, rejects with a ClickStoreError or the signal's reason, and may be
 * repeated and called by several processes at once.
 */
export interface Erasures extends AsyncDisposable {
  /** All that were ever asked for. */
  list(signal: AbortSignal): Promise<readonly StoredErasure[]>;
  /** From its return on it stands, and who keeps clicks out hears of it within `listAgeMs`. One may only grow. */
  add(erasure: Erasure, signal: AbortSignal): Promise<void>;
  /** How many rows are stored of all these together, at most a hundred; in ClickHouse repeats that are not merged count. */
  count(erasures: readonly Erasure[], signal: AbortSignal): Promise<number>;
  /**
   * Takes the clicks of at most a hundred erasures out of table and statistics and notes their numbers; takes as long as
   * that takes. Killed at any point it can be called again.
   */
  erase(erasures: readonly Erasure[], signal: AbortSignal): Promise<void>;
  /** At most a thousand. */
  eraseLetters(letters: readonly LetterKey[], signal: AbortSignal): Promise<void>;
  /** These numbers are accounted for from now on, whatever becomes of their clicks. */
  noteErased(ranges: readonly ErasedRange[], signal: AbortSignal): Promise<void>;
  /** Notes that these are done. */
  finish(erasures: readonly Erasure[], signal: AbortSignal): Promise<void>;
  /** For how many days clicks are kept, by workspace; of others for ever. */
  retention(signal: AbortSignal): Promise<ReadonlyMap<number, number>>;
  /** 0 for ever. What retention has erased before does not come back. */
  setRetention(workspaceId: number, days: number, signal: AbortSignal): Promise<void>;
}

/** Whoever stores clicks knows of no erasure for at most so long. */
export const listAgeMs = 10_000;

/** Rejects only for a URL that cannot be one. */
export async function openErasures(url: string): Promise<Erasures> {
  const adapter =
    storeKind(url) === "Postgres"
      ? await import("./postgres/erasures.ts")
      : await import("./clickhouse/erasures.ts");
  return adapter.openErasures(url);
}
