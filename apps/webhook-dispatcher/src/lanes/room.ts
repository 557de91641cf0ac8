import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { type Door, isShut } from "./door.ts";
import { Lane } from "./lane.ts";
import type { LanesOptions } from "./lanes.ts";
import type { Traffic } from "./traffic.ts";

/** What a prompt lane may have waiting: a second's work at the default rate, or two of a vendor's requests. */
const mostWaiting = 100;
/** Whoever asks claims at once. */
const grantMs = 2_000;

interface Room {
  of(id: TargetId): number;
  forgetGrants(): void;
}

/** How much more the lanes take. What is granted counts as taken, because whoever asks for many lanes claims for all at once. */
export function createRoom(
  traffic: Traffic,
  door: Door,
  { limits, clock }: Pick<LanesOptions, "limits" | "clock">,
): Room {
  /** By pool and pace: what is promised to the slow is not taken from the others. */
  const slots = new Map<string, Grants>();
  const places = new Grants();
  let since = 0;

  function forgetGrants(): void {
    slots.clear();
    places.clear();
  }

  return {
    forgetGrants,
    of(id) {
      const now = clock.now();
      if (now - since > grantMs || now < since) {
        forgetGrants();
        since = now;
      }
      traffic.age(now);
      const lane = traffic.lanes.get(id) ?? new Lane(id);
      const to = door(lane, now);
      if (isShut(to)) return 0;
      const terms = traffic.bounds.of(lane, to, now);
      const { workspaceId, host, pace } = terms;
      const { maxEvents } = to.open;
      const slotsOf = `${terms.isVendor} ${pace}`;
      const granted = slots.get(slotsOf) ?? new Grants();
      slots.set(slotsOf, granted);
      // Of what is not known to be quick, only as much as starts at once: it could wait for longer than its lease.
      const isCareful = pace !== "quick" || lane.breaker.isHalfOpen;
      const requests = Math.min(
        terms.inFlight - lane.started.size,
        traffic.poolOf(terms).share.spare(workspaceId, pace, granted.of(workspaceId)),
        host?.share.spare(workspaceId, pace) ?? limits.integrationsInFlight,
      );
      const most = isCareful
        ? requests * maxEvents
        : Math.min(
            Math.max(mostWaiting, 2 * maxEvents),
            Math.max(1, Math.floor(terms.perSecond)) * maxEvents,
          );
      const room = Math.max(
        0,
        Math.min(most - lane.queued, traffic.queue.spare(workspaceId, "quick", places.of(workspaceId))),
      );
      places.add(workspaceId, room);
      if (isCareful) granted.add(workspaceId, Math.ceil(room / maxEvents));
      return room;
    },
  };
}

class Grants {
  readonly #own = new Map<number, number>();
  #all = 0;

  of(workspaceId: number): { own: number; all: number } {
    return { own: this.#own.get(workspaceId) ?? 0, all: this.#all };
  }
  add(workspaceId: number, count: number): void {
    this.#own.set(workspaceId, (this.#own.get(workspaceId) ?? 0) + count);
    this.#all += count;
  }
  clear(): void {
    this.#own.clear();
    this.#all = 0;
  }
}
