import type { Entry } from "./answers.ts";
import { maxPerScript } from "./scripts.ts";

/** Entries that were fetched together, or what is left of them. */
export interface Share {
  readonly entries: readonly Entry[];
  readonly epoch: number;
  /** Which of the group's lives they are of: entries of an earlier one belong to nobody else any more. */
  readonly life: number;
}

/** What a reader has fetched and not yet handed out, oldest first, and how much that is. */
export class Held {
  #shares: Share[] = [];
  #records = 0;
  #valueBytes = 0;
  #heldBytes = 0;

  get records(): number {
    return this.#records;
  }

  get valueBytes(): number {
    return this.#valueBytes;
  }

  /** Memory. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  add(share: Share): void {
    if (share.entries.length === 0) return;
    this.#shares.push(share);
    for (const entry of share.entries) this.#count(entry, 1);
  }

  /** Removes the oldest, of one epoch and life; the first one always. Called when there are some. */
  take(maxRecords: number, maxBytes: number): Share {
    const [first] = this.#shares;
    if (first === undefined) throw new Error("entries were taken where there are none");
    const entries: Entry[] = [];
    let bytes = 0;
    for (let share = this.#shares[0]; share !== undefined; share = this.#shares[0]) {
      if (share.epoch !== first.epoch || share.life !== first.life) break;
      let taken = 0;
      for (const entry of share.entries) {
        bytes += entry.value.byteLength;
        if (entries.length >= maxRecords || (entries.length > 0 && bytes > maxBytes)) break;
        entries.push(entry);
        this.#count(entry, -1);
        taken += 1;
      }
      if (taken < share.entries.length) {
        this.#shares[0] = { ...share, entries: share.entries.slice(taken) };
        break;
      }
      this.#shares.shift();
    }
    return { ...first, entries };
  }

  shares(): readonly Share[] {
    return this.#shares;
  }

  drop(ids: ReadonlySet<string>): void {
    const before = this.#shares;
    this.clear();
    for (const share of before) {
      this.add({ ...share, entries: share.entries.filter(({ id }) => !ids.has(id)) });
    }
  }

  clear(): void {
    this.#shares = [];
    this.#records = 0;
    this.#valueBytes = 0;
    this.#heldBytes = 0;
  }

  #count({ value, heldBytes }: Entry, sign: 1 | -1): void {
    this.#records += sign;
    this.#valueBytes += sign * value.byteLength;
    this.#heldBytes += sign * heldBytes;
  }
}

/** The ids of a share, as many at once as a script takes. */
export function idsInChunks({ entries }: Share): string[][] {
  const chunks: string[][] = [];
  for (let from = 0; from < entries.length; from += maxPerScript) {
    chunks.push(entries.slice(from, from + maxPerScript).map(({ id }) => id));
  }
  return chunks;
}
