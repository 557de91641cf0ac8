/** Of a lane's attempts: not known yet is `new`. */
export type Pace = "quick" | "new" | "slow";

/**
 * Slots that workspaces share. Each may hold as many as are free: one alone gets half, ten get an eleventh each, and there
 * is one for a newcomer, at once. Of slow attempts, and of those of which nothing is known, a third of that many, so that
 * a workspace's hung endpoints leave room for its others. A semaphore: `take` right after `admits`, without an await in
 * between.
 */
export class Share {
  readonly #total: () => number;
  readonly #most: () => number;
  readonly #held = new Map<number, Record<Pace | "all", number>>();
  #used = 0;

  /** `most`: of one workspace, however many are free. */
  constructor(total: () => number, most: () => number = () => Number.POSITIVE_INFINITY) {
    this.#total = total;
    this.#most = most;
  }

  get used(): number {
    return this.#used;
  }

  held(workspaceId: number): number {
    return this.#held.get(workspaceId)?.all ?? 0;
  }

  /** How many more it may take, one after the other; `promised` counts as taken. */
  spare(workspaceId: number, pace: Pace, promised = { own: 0, all: 0 }): number {
    const free = this.#total() - this.#used - promised.all;
    const held = this.#held.get(workspaceId);
    const all = (held?.all ?? 0) + promised.own;
    // Each one taken makes what it holds one more, and what is free one less.
    const fair = Math.ceil((free - all) / 2);
    const paced = pace === "quick" ? fair : Math.ceil((free - 3 * ((held?.[pace] ?? 0) + promised.own)) / 4);
    return Math.max(0, Math.min(fair, paced, free, this.#most() - all));
  }

  admits(workspaceId: number, pace: Pace): boolean {
    return this.spare(workspaceId, pace) >= 1;
  }

  take(workspaceId: number, pace: Pace): void {
    const held = this.#held.get(workspaceId) ?? { quick: 0, new: 0, slow: 0, all: 0 };
    this.#held.set(workspaceId, held);
    held[pace] += 1;
    held.all += 1;
    this.#used += 1;
  }

  give(workspaceId: number, pace: Pace): void {
    const held = this.#held.get(workspaceId);
    if (held === undefined) return;
    held[pace] -= 1;
    held.all -= 1;
    this.#used -= 1;
    if (held.all === 0) this.#held.delete(workspaceId);
  }
}
