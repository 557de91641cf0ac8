/** Which links have changed of late, and when: what was read before that is not to be trusted. Bounded. */
export interface RecentChanges {
  /** `position` is the change's own, `at` when it was learnt. */
  note(key: string, position: number, at: number): void;
  /** Everything may have changed. */
  noteAll(position: number, at: number): void;
  /** When a change of the link was last learnt; `-Infinity` for never. */
  lastAt(key: string): number;
  /** Whether somebody who read the link when all before `position` was visible has seen every change known here. */
  isSeenFrom(position: number, key: string): boolean;
}

interface Noted {
  readonly position: number;
  readonly at: number;
}

/** Some 3 MB. What is older stands for all the links that are not in it. */
const maxLinks = 20_000;

export function createRecentChanges(max = maxLinks): RecentChanges {
  const noted = new Map<string, Noted>();
  let others: Noted = { position: -Infinity, at: -Infinity };
  const last = (key: string): Noted => noted.get(key) ?? others;

  return {
    note(key, position, at) {
      // A transaction can become known after a later one.
      const latest = Math.max(position, noted.get(key)?.position ?? -Infinity);
      noted.delete(key);
      noted.set(key, { position: latest, at });
      if (noted.size <= max) return;
      for (const [oldest, change] of noted) {
        noted.delete(oldest);
        others = { position: Math.max(others.position, change.position), at: change.at };
        return;
      }
    },
    noteAll(position, at) {
      noted.clear();
      others = { position, at };
    },
    lastAt: (key) => last(key).at,
    isSeenFrom: (position, key) => position > last(key).position,
  };
}
