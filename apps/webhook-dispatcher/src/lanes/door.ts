import type { Lane } from "./lane.ts";
import type { Addressee, LanesOptions, Parked } from "./lanes.ts";

/** Whom a lane sends to now, or why nothing is sent. */
export type Door = (lane: Lane, now: number) => Addressee | Parked;

/** Whoever is told that a target is disabled has written it by then. */
export const disabledMs = 60_000;

export function createDoor(
  { find, pausedUntil }: Pick<LanesOptions, "find" | "pausedUntil">,
  isStopping: () => boolean,
): Door {
  return (lane, now) => {
    if (isStopping()) return { kind: "parked", dueAt: now, why: "stopped" };
    const to = find(lane.id);
    if (to === undefined) return { kind: "parked", dueAt: now + disabledMs, why: "disabled" };
    const until = Math.max(lane.pausedUntil, pausedUntil(lane.id) ?? 0);
    if (until <= now) return to;
    lane.breaker.paused(now);
    return { kind: "parked", dueAt: until, why: lane.pausedUntil > now ? lane.pausedFor : "paused" };
  };
}

export function isShut(to: Addressee | Parked): to is Parked {
  return "kind" in to;
}
