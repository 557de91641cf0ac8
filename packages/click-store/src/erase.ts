import { createCover } from "./cover.ts";
import type { DeadLetters, LetterKey, StoredDeadLetter } from "./dead-letters.ts";
import { listAgeMs, type ErasedRange, type Erasure, type Erasures, type StoredErasure } from "./erasures.ts";

/**
 * Whoever stored a click of it without knowing of the erasure is done with it by then: a slice was decoded with a list
 * `listAgeMs` old, waits for the one before it, and its insert ends within 30 s.
 */
export const knownAfterMs = listAgeMs + 50_000;
/** Until then looked for again: a batch may have been in hand for as long as the store refused it. */
const doubtMs = 7 * 86_400_000;
const dayMs = 86_400_000;
/** As many as one statement takes. */
const chunk = 100;
/** What one pass carries out, at most; the next one goes on. */
const maxChunks = 10;
const letterPage = 100;
const maxLetters = 1_000;

export interface EraseOptions {
  readonly signal: AbortSignal;
  readonly knownAfterMs?: number;
  readonly now?: () => number;
}

export interface Erased {
  /** Rows that were counted before they were erased. */
  readonly clicks: number;
  readonly letters: number;
  /** Erasures that are not done yet. */
  readonly pending: number;
}

/**
 * One pass: lengthens the erasures that retention asks for, and carries out what is not done. What is done is looked for
 * again for a week, in case it came in past everybody. Killed at any point, the next pass finishes it; two at once do the
 * same work twice. Rejects as the store's methods do.
 */
export async function eraseDue(
  erasures: Erasures,
  letters: DeadLetters,
  { signal, knownAfterMs: settledMs = knownAfterMs, now = Date.now }: EraseOptions,
): Promise<Erased> {
  await lengthen(erasures, now(), signal);
  const due = (await erasures.list(signal))
    .filter(({ ageMs, done }) => ageMs >= settledMs && (!done || ageMs < doubtMs))
    .toSorted((a, b) => Number(a.done) - Number(b.done) || b.ageMs - a.ageMs)
    .slice(0, chunk * maxChunks);
  let clicks = 0;
  const gone: StoredErasure[] = [];
  for (let from = 0; from < due.length; from += chunk) {
    const some = due.slice(from, from + chunk);
    const found = await erasures.count(some, signal);
    clicks += found;
    if (found > 0) await erasures.erase(some, signal);
    if (found === 0 || (await erasures.count(some, signal)) === 0) gone.push(...some);
  }
  const lettersGone = due.length === 0 ? 0 : await eraseLetters(erasures, letters, { due, now, signal });
  await erasures.finish(
    gone.filter(({ done }) => !done),
    signal,
  );
  const pending = (await erasures.list(signal)).filter(({ done }) => !done).length;
  return { clicks, letters: lettersGone, pending };
}

/** Of a workspace whose clicks are kept for some days all days before them are erased, in whole days of UTC. */
async function lengthen(erasures: Erasures, now: number, signal: AbortSignal): Promise<void> {
  const kept = await erasures.retention(signal);
  if (kept.size === 0) return;
  const reached = new Map<number, number>();
  for (const { workspaceId, linkId, visitor, upTo } of await erasures.list(signal))
    if (linkId === undefined && visitor === undefined) reached.set(workspaceId, upTo);
  for (const [workspaceId, days] of kept) {
    const upTo = (Math.floor(now / dayMs) - days) * dayMs - 1;
    if (upTo > (reached.get(workspaceId) ?? -1)) await erasures.add({ workspaceId, upTo }, signal);
  }
}

/** All letters are read where something is new, else those that came since: their bytes say whose they are. */
async function eraseLetters(
  erasures: Erasures,
  letters: DeadLetters,
  { due, now, signal }: { due: readonly StoredErasure[]; now: () => number; signal: AbortSignal },
): Promise<number> {
  const since = due.some(({ done }) => !done) ? 0 : now() - doubtMs - dayMs;
  const taken = await lettersOf(letters, due, since, signal);
  await erasures.noteErased(taken.flatMap(rangeOf), signal);
  for (let from = 0; from < taken.length; from += maxLetters)
    await erasures.eraseLetters(taken.slice(from, from + maxLetters), signal);
  return taken.length;
}

/** Without their bytes. */
interface TakenLetter extends LetterKey, Pick<StoredDeadLetter, "key" | "number"> {}

export async function lettersOf(
  letters: DeadLetters,
  erasures: readonly Erasure[],
  since: number,
  signal: AbortSignal,
): Promise<readonly TakenLetter[]> {
  const cover = createCover(erasures);
  const taken: TakenLetter[] = [];
  for (let after: LetterKey | undefined; ;) {
    signal.throwIfAborted();
    const page = await letters.page(
      { state: "any", from: since },
      { limit: letterPage, ...(after && { after }) },
    );
    for (const letter of page.letters) {
      if (!cover.takesLetter(letter)) continue;
      const { log, topic, recordId, key, number } = letter;
      taken.push({ log, topic, recordId, key, number });
    }
    after = page.next;
    if (after === undefined) return taken;
  }
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The number that a letter accounts for, where it says it; a record's key is its run. */
export function rangeOf({ key, number }: Pick<StoredDeadLetter, "key" | "number">): ErasedRange[] {
  return number > 0 && uuid.test(key) ? [{ run: key, fromSeq: number, toSeq: number }] : [];
}
