import { ClickStoreError, type DeadLetter } from "./click-store.ts";
import { storeKind } from "./store-kind.ts";

/** What an operator has done about a letter. */
export type Mark = "replayed" | "discarded";

export interface StoredDeadLetter extends DeadLetter {
  /** When it was stored last, in ms since 1970 by the server's clock. */
  readonly storedAt: number;
  /** Undefined while it is open. */
  readonly mark: Mark | undefined;
}

/** What of a letter is its identity. */
export type LetterKey = Pick<DeadLetter, "log" | "topic" | "recordId">;

/** Letters for which all that is given is true. */
export interface LetterFilter {
  /** `open`: neither replayed nor discarded. */
  readonly state: "open" | Mark | "any";
  /** As `letterId` writes them; at most a few hundred. */
  readonly ids?: readonly string[];
  readonly reason?: string;
  readonly topic?: string;
  /** By `storedAt`, in ms: from the first, up to but not with the second. */
  readonly from?: number;
  readonly to?: number;
}

/** For whoever looks after dead letters. Every method rejects with a ClickStoreError, and does not retry. */
export interface DeadLetters extends AsyncDisposable {
  /** How many there are, and the server's time (ms) at which they were counted. */
  count(filter: LetterFilter): Promise<{ readonly letters: number; readonly asOf: number }>;
  /** At most `limit`, the latest first, behind `after`. Costs a look at all letters, without their bytes. */
  latest(
    filter: LetterFilter,
    page: { readonly limit: number; readonly after?: StoredDeadLetter },
  ): Promise<readonly StoredDeadLetter[]>;
  /**
   * Some of at most `limit` letters behind `after`, in the order of their keys, and where the next page begins;
   * without `next` it was the last. Costs what it returns. Letters stored meanwhile may be on a later page.
   */
  page(
    filter: LetterFilter,
    page: { readonly limit: number; readonly after?: LetterKey },
  ): Promise<{ readonly letters: readonly StoredDeadLetter[]; readonly next?: LetterKey }>;
  /**
   * Says what was done about these letters. It stays with them when the same record becomes a dead letter again; a
   * record that is appended anew is another letter. The last mark counts.
   */
  mark(letters: readonly StoredDeadLetter[], mark: Mark): Promise<void>;
}

/** Opens the dead letters of the store that the URL names. Rejects only for a URL that cannot be one. */
export async function openDeadLetters(url: string): Promise<DeadLetters> {
  if (storeKind(url) === "Postgres") {
    const { openPostgresDeadLetters } = await import("./postgres/dead-letters.ts");
    return openPostgresDeadLetters(url);
  }
  const { openClickHouseDeadLetters } = await import("./clickhouse/dead-letters.ts");
  return openClickHouseDeadLetters(url);
}

/** `log/topic/record`: neither a log nor a topic has a slash in its name. */
export function letterId({ log, topic, recordId }: LetterKey): string {
  return `${log}/${topic}/${recordId}`;
}

/** Of what a store has kept. */
export function toMark(text: string): Mark | undefined {
  if (text === "") return undefined;
  if (text === "replayed" || text === "discarded") return text;
  throw new ClickStoreError("operator", 0, "a dead letter has a mark that this version does not know");
}

/** The last time that both stores can hold, in ms. */
export const year2299 = 10_413_791_999_999;

/** Whoever appended set this clock, and a letter that the table refuses would have nowhere left to go. */
export function toStorableTime(ms: number): number {
  return Number.isFinite(ms) ? Math.min(Math.max(Math.trunc(ms), 0), year2299) : 0;
}

/** Those of another state are left out behind the page, so that it costs what it returns. */
export function pageOf(
  read: readonly StoredDeadLetter[],
  { state }: LetterFilter,
  limit: number,
): { readonly letters: readonly StoredDeadLetter[]; readonly next?: LetterKey } {
  const last = read.at(-1);
  return {
    letters: read.filter(({ mark = "open" }) => state === "any" || state === mark),
    ...(last !== undefined && read.length === limit && { next: last }),
  };
}
