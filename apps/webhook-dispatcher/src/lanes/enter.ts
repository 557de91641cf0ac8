import { type Door, isShut } from "./door.ts";
import type { Lane } from "./lane.ts";
import type { Addressee, LanesOptions, Parked } from "./lanes.ts";
import type { Terms } from "./terms.ts";
import type { Traffic } from "./traffic.ts";

/** Of a lane that has not answered yet: an ordinary receiver. */
const unknownMs = 100;

/** Whether a batch may wait for one more delivery in that lane, or why not. */
export function enter(
  lane: Lane,
  now: number,
  traffic: Traffic,
  door: Door,
  { slowMs }: LanesOptions["limits"],
): Terms | Parked {
  const to = door(lane, now);
  if (isShut(to)) return to;
  // Its probe comes from the worker.
  if (lane.breaker.isHalfOpen) return { kind: "parked", dueAt: now, why: "open" };
  const terms = traffic.bounds.of(lane, to, now);
  if (terms.pace === "slow") return { kind: "parked", dueAt: now, why: "slow" };
  const isFull =
    now < lane.avoidedUntil ||
    !fits(lane, to, terms, now, slowMs) ||
    !traffic.queue.admits(terms.workspaceId, "quick");
  return isFull ? { kind: "parked", dueAt: now, why: "full" } : terms;
}

/** No batch waits for a token, nor longer than for a slow attempt. */
function fits(lane: Lane, { open }: Addressee, terms: Terms, now: number, slowMs: number): boolean {
  const { perSecond, host, hostPerSecond } = terms;
  // What is new has its first answer by the time that counts.
  const inFlight = terms.pace === "new" ? terms.cap : terms.inFlight;
  const requests = Math.ceil((lane.queued + 1) / open.maxEvents);
  const rounds = Math.ceil(Math.max(0, lane.started.size + requests - inFlight) / inFlight);
  return (
    lane.bucket.available(perSecond, now) >= requests &&
    (host === undefined || host.bucket.available(hostPerSecond, now) >= host.queued + 1) &&
    rounds * (lane.speed.averageMs ?? unknownMs) < slowMs
  );
}
