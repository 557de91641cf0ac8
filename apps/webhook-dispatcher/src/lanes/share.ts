/** Of a lane's attempts: not known yet is `new`. */
export type Pace = "quick" | "new" | "slow";

type Counts = Record<Pace | "all", number>;

/**
 * Slots that workspaces share. Each may hold as many as are free: one alone gets half, ten get an eleventh each, and there
 * is one for a newcomer, at once. Of slow attempts, and of those of which nothing is known, a third of that many, and of
 * both three fifths, so that a workspace's hung endpoints leave room for its others. Those of all workspaces together are
 * at most half, either, and three quarters, both. A semaphore: `take` right after `admits`, without an await in between.
 */
export class Share {
  readonly #total: () => number;
  readonly #most: () => number;
  readonly #held = new Map<number, Counts>();
  readonly #used: Counts = { quick: 0, new: 0, slow: 0, all: 0 };

  /** `most`: of one workspace, however many are free. */
  constructor(total: () => number, most: () => number = () => Number.POSITIVE_INFINITY) {
    this.#total = total;
    this.#most = most;
  }

  get used(): number {
    return this.#used.all;
  }

  held(workspaceId: number): number {
    return this.#held.get(workspaceId)?.all ?? 0;
  }

  /** How many more it may take, one after the other; what is promised counts as taken. */
  spare(workspaceId: number, pace: Pace, promised: Promised = nothing): number {
    const free = this.#total() - this.#used.all - promised.all;
    const held = this.#held.get(workspaceId);
    const all = (held?.all ?? 0) + promised.own;
    // Each one taken makes what it holds one more, and what is free one less.
    const fair = Math.ceil((free - all) / 2);
    const most = Math.min(fair, free, this.#most() - all);
    if (pace === "quick") return Math.max(0, most);
    const paced = Math.ceil((free - 3 * ((held?.[pace] ?? 0) + promised.own)) / 4);
    const careful = (held?.new ?? 0) + (held?.slow ?? 0) + promised.own;
    const both = Math.ceil((3 * free - 5 * careful) / 8);
    return Math.max(0, Math.min(most, paced, both, this.#careful(pace, promised)));
  }

  admits(workspaceId: number, pace: Pace): boolean {
    return this.spare(workspaceId, pace) >= 1;
  }

  take(workspaceId: number, pace: Pace): void {
    const held = this.#held.get(workspaceId) ?? { quick: 0, new: 0, slow: 0, all: 0 };
    this.#held.set(workspaceId, held);
    for (const counts of [held, this.#used]) {
      counts[pace] += 1;
      counts.all += 1;
    }
  }

  give(workspaceId: number, pace: Pace): void {
    const held = this.#held.get(workspaceId);
    if (held === undefined) return;
    for (const counts of [held, this.#used]) {
      counts[pace] -= 1;
      counts.all -= 1;
    }
    if (held.all === 0) this.#held.delete(workspaceId);
  }

  /** What is left to all workspaces together. */
  #careful(pace: "new" | "slow", { all }: Promised): number {
    const total = this.#total();
    const both = Math.ceil((total * 3) / 4) - this.#used.new - this.#used.slow;
    return Math.min(both, Math.ceil(total / 2) - this.#used[pace]) - all;
  }
}

/** Slots of that pace, of the workspace and of all. */
export interface Promised {
  readonly own: number;
  readonly all: number;
}

const nothing: Promised = { own: 0, all: 0 };
