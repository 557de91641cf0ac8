import type { Lane } from "./lane.ts";
import type { Pace, Share } from "./share.ts";

/** Lanes of one workspace and pace that could start something. */
export interface Line {
  readonly workspaceId: number;
  readonly pace: Pace;
  readonly ready: Set<Lane>;
}

/**
 * The slots of one process, and who is next: the workspace with the fewest in flight; among equals, and among its lanes,
 * who has waited longest.
 */
export class Pool {
  readonly share: Share;
  readonly #lines = new Map<string, Line>();
  readonly #lineOf = new Map<Lane, string>();
  readonly #start: (lane: Lane, line: Line) => void;

  /** `start` takes a slot or does not; it may call `add`. */
  constructor(share: Share, start: (lane: Lane, line: Line) => void) {
    this.share = share;
    this.#start = start;
  }

  add(lane: Lane, workspaceId: number, pace: Pace): void {
    const key = `${workspaceId} ${pace}`;
    const before = this.#lineOf.get(lane);
    if (before === key) return;
    if (before !== undefined) this.remove(lane);
    const line = this.#lines.get(key) ?? { workspaceId, pace, ready: new Set() };
    line.ready.add(lane);
    this.#lines.set(key, line);
    this.#lineOf.set(lane, key);
  }

  remove(lane: Lane): void {
    const key = this.#lineOf.get(lane);
    if (key === undefined) return;
    this.#lineOf.delete(lane);
    const line = this.#lines.get(key);
    line?.ready.delete(lane);
    if (line?.ready.size === 0) this.#lines.delete(key);
  }

  /** Starts what can be started. */
  pump(): void {
    for (let line = this.#next(); line !== undefined; line = this.#next()) {
      const [lane] = line.ready;
      if (lane === undefined) return;
      this.remove(lane);
      // To the end, for its other lanes.
      const key = `${line.workspaceId} ${line.pace}`;
      if (this.#lines.delete(key)) this.#lines.set(key, line);
      this.#start(lane, line);
    }
  }

  #next(): Line | undefined {
    let best: Line | undefined;
    for (const line of this.#lines.values()) {
      if (!this.share.admits(line.workspaceId, line.pace)) continue;
      if (best === undefined || this.share.held(line.workspaceId) < this.share.held(best.workspaceId))
        best = line;
    }
    return best;
  }
}
