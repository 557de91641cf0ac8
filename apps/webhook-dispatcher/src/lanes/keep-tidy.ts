import type { Lane } from "./lane.ts";
import type { LanesOptions } from "./lanes.ts";
import type { Traffic } from "./traffic.ts";

const everyMs = 1_000;
/** A lane in use would be made anew with every batch. */
const keptMs = 10_000;
/** Twice the longest time a breaker is open: whoever is not heard of for so long begins anew. */
const knownMs = 1_200_000;

/** Forgets idle lanes and counts the others; to be called often, does it once a second. */
export function keepTidy(
  { lanes, bounds }: Traffic,
  { limits, clock, metrics, pausedUntil }: LanesOptions,
): (now: number) => void {
  let doneAt = clock.now();
  return (now) => {
    if (Math.abs(now - doneAt) < everyMs) return;
    doneAt = now;
    const counts = { known: 0, slow: 0, open: 0, paused: 0, waiting: 0 };
    for (const [id, lane] of lanes) {
      if (isIdle(lane, now)) {
        lanes.delete(id);
        continue;
      }
      const isOpen = lane.pausedUntil > now && lane.pausedFor === "open";
      counts.known += 1;
      if (lane.pace(now, limits) === "slow") counts.slow += 1;
      if (isOpen) counts.open += 1;
      else if (Math.max(lane.pausedUntil, pausedUntil(id) ?? 0) > now) counts.paused += 1;
      if (lane.queued > 0) counts.waiting += 1;
    }
    bounds.hosts.forgetIdle(now);
    for (const [state, count] of Object.entries(counts)) metrics.lanes.set({ state }, count);
  };
}

function isIdle(lane: Lane, now: number): boolean {
  const knownFor = lane.breaker.isCalm && !lane.speed.isSlow ? keptMs : knownMs;
  return (
    lane.started.size === 0 && lane.queued === 0 && lane.pausedUntil <= now && now - lane.usedAt > knownFor
  );
}
