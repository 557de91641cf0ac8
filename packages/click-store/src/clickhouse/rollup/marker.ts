import type { WorkspaceHour } from "../queries/click-rollup-marks.ts";

/**
 * An hour is counted when nobody has marked it for so long. Whoever inserts has marked at most `renewMs` before, and an
 * insert is over `serverMs` (30 s) after it has begun; the rest is for what clocks, networks and schedulers do.
 */
export const quietMs = 600_000;
/** A mark is used for inserts for so long: a busy hour costs 20 marks of each ingester. */
const renewMs = 180_000;
/** An insert that was acknowledged so long after its mark was looked at may have come too late for it. */
const lateMs = 300_000;
/** Of hours that are remembered as marked; one costs about 40 bytes. */
const maxHours = 100_000;

const hourMs = 3_600_000;

/** Of a row, all that says to which hour it belongs. */
export interface Dated {
  readonly workspace_id: number;
  readonly ts: number;
}

export interface Marker {
  /**
   * Resolves when each hour of these rows is marked, and has been for at most `renewMs`. Writes nothing for those that
   * it remembers. Rejects as `write` does. Calls may run at once.
   */
  mark(rows: readonly Dated[], signal: AbortSignal): Promise<void>;
  /** Marks, then makes a change to these hours, and marks again when that took so long that the mark may not hold. */
  during(rows: readonly Dated[], signal: AbortSignal, change: () => Promise<void>): Promise<void>;
}

/** `write` resolves when these hours are marked for good. */
export function createMarker(
  write: (hours: readonly WorkspaceHour[], signal: AbortSignal) => Promise<void>,
  clock: () => Moment = readClocks,
): Marker {
  const marked = new Set<number>();
  let since = clock();

  async function mark(rows: readonly Dated[], signal: AbortSignal): Promise<void> {
    const now = clock();
    // All at once: were each renewed by itself, nearly every batch would write a few.
    if (msBetween(since, now) > renewMs || marked.size > maxHours) marked.clear();
    if (marked.size === 0) since = now;
    const missing = new Map<number, WorkspaceHour>();
    let last = -1;
    for (const { workspace_id, ts } of rows) {
      const hour = Math.floor(ts / hourMs);
      // Below 2^53: an hour of this century takes 21 bits, a workspace 32.
      const key = workspace_id * 2 ** 21 + hour;
      if (key === last) continue;
      last = key;
      if (!marked.has(key)) missing.set(key, { workspaceId: workspace_id, hour: hour * 3_600 });
    }
    if (missing.size === 0) return;
    const began = since;
    await write([...missing.values()], signal);
    // Forgotten meanwhile, they would be remembered as younger than they are.
    if (began === since) for (const key of missing.keys()) marked.add(key);
  }

  return {
    mark,
    async during(rows, signal, change) {
      const startedAt = clock();
      await mark(rows, signal);
      await change();
      if (msBetween(startedAt, clock()) < lateMs) return;
      // We were held up, and whoever counts may have taken our mark for one that nothing comes under any more.
      marked.clear();
      await mark(rows, signal);
    },
  };
}

/** One clock stands still while a machine sleeps, the other can be set. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

function readClocks(): Moment {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/** By whichever clock more time has passed; one that was set back counts as much. */
function msBetween(from: Moment, to: Moment): number {
  return Math.max(to.monotonicMs - from.monotonicMs, Math.abs(to.wallMs - from.wallMs));
}
