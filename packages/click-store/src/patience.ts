import { createBackoff, sleep } from "@sluice/service/retry.ts";
import { ClickStoreError, type InsertOptions, troubleOf } from "./click-store.ts";

/** A restarting server is found soon, one that stays away is not hammered. */
const soon = { minMs: 100, maxMs: 10_000 };
/** Too many parts: merges need seconds, and every part that we add costs them more. */
const later = { minMs: 4_000, maxMs: 60_000 };
/** How often an error with a code that we do not know is tried again before a row is blamed. */
const unknownTries = 5;

/** What an adapter's table of error codes says of one, as far as waiting goes. */
export type RuleOf = (error: ClickStoreError) => {
  /** Trying again soon makes it worse. */
  readonly slow?: true;
  /** No code of the table: it is tried again a few times, then taken for a row's fault. */
  readonly unknown?: true;
};

/** Counts what failed in a row, decides whether to go on, and waits. */
export interface Patience {
  /**
   * True when trying again is pointless: the table refuses a value, or a code that we do not know has come
   * too often. To be asked once for each failure.
   */
  exhausted(error: ClickStoreError): boolean;
  /** Reports the trouble and resolves when it is time to try again; rejects with the signal's reason. */
  wait(error: ClickStoreError): Promise<void>;
  /** Something succeeded: the next failure is a first one again. */
  restore(): void;
}

export function createPatience({ signal, onTrouble }: InsertOptions, ruleOf: RuleOf, wait = pause): Patience {
  const backoffs = { soon: createBackoff(soon), later: createBackoff(later) };
  let failures = 0;
  let unknown = 0;
  return {
    exhausted(error) {
      if (ruleOf(error).unknown) unknown += 1;
      return error.class === "row" || unknown > unknownTries;
    },
    async wait(error) {
      failures += 1;
      onTrouble(troubleOf(error, failures));
      const backoff = ruleOf(error).slow ? backoffs.later : backoffs.soon;
      await wait(backoff.next(), signal);
    },
    restore() {
      failures = 0;
      unknown = 0;
      backoffs.soon.reset();
      backoffs.later.reset();
    },
  };
}

/**
 * Calls until it succeeds; only for what may be done twice. Rejects with the signal's reason and with any error that
 * is not a ClickStoreError; where rows are sent, also with one of class `row` when patience is exhausted.
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  options: InsertOptions & { sends: "rows" | "a look-up"; ruleOf: RuleOf },
): Promise<T> {
  const patience = createPatience(options, options.ruleOf);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ClickStoreError)) throw error;
      if (options.sends === "rows" && patience.exhausted(error)) throw blameRow(error);
      await patience.wait(error);
    }
  }
}

/** Resolves to the error of an attempt, if it is one to be patient with; rejects with any other. */
export async function failureOf(sent: Promise<void>): Promise<ClickStoreError | undefined> {
  try {
    await sent;
    return undefined;
  } catch (error) {
    if (error instanceof ClickStoreError) return error;
    throw error;
  }
}

/** The error that the caller of this package gets for rows that can never be stored. */
export function blameRow(error: ClickStoreError, partlyStored = false): ClickStoreError {
  return new ClickStoreError("row", error.code, error.message, { cause: error, partlyStored });
}

/** Resolves after so many ms; rejects with the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, signal).catch(() => signal.throwIfAborted());
}
