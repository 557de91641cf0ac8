/**
 * Slots that workspaces share. Each may hold as many as are free: one alone gets half, ten get an eleventh each, and there is
 * always one for a newcomer, at once. Of slow work half of that, so that a workspace's hung endpoints leave room for its
 * others. A semaphore: `take` right after `admits`, without an await in between.
 */
export class Share {
  readonly #total: () => number;
  readonly #most: () => number;
  readonly #held = new Map<number, { prompt: number; slow: number }>();
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
    const held = this.#held.get(workspaceId);
    return held === undefined ? 0 : held.prompt + held.slow;
  }

  /** How many more it may take, one after the other; `promised` counts as taken. */
  spare(workspaceId: number, slow: boolean, promised = { own: 0, all: 0 }): number {
    const free = this.#total() - this.#used - promised.all;
    const held = this.#held.get(workspaceId) ?? { prompt: 0, slow: 0 };
    const all = held.prompt + held.slow + promised.own;
    // Each one taken makes what it holds one more, and what is free one less.
    const fair = slow ? Math.ceil((free - 2 * (held.slow + promised.own)) / 3) : Math.ceil((free - all) / 2);
    return Math.max(0, Math.min(fair, free, this.#most() - all));
  }

  admits(workspaceId: number, slow: boolean): boolean {
    return this.spare(workspaceId, slow) >= 1;
  }

  take(workspaceId: number, slow: boolean): void {
    const held = this.#held.get(workspaceId) ?? { prompt: 0, slow: 0 };
    this.#held.set(workspaceId, held);
    held[slow ? "slow" : "prompt"] += 1;
    this.#used += 1;
  }

  give(workspaceId: number, slow: boolean): void {
    const held = this.#held.get(workspaceId);
    if (held === undefined) return;
    held[slow ? "slow" : "prompt"] -= 1;
    this.#used -= 1;
    if (held.prompt + held.slow === 0) this.#held.delete(workspaceId);
  }
}
