import type { HttpReply } from "../http/http-client.ts";

/** Fewer could be one bad minute of a deployment; more is a burst at somebody who is down. */
const failuresToOpen = 5;
const firstOpenMs = 30_000;
const longestOpenMs = 600_000;

/**
 * Stops what a failing endpoint is sent. Each failure in a row halves what may be in flight, because those in flight when
 * it opens cannot be taken back (facts: NangoHQ #5061). After a pause there is one probe at a time until one succeeds. Where
 * the pause was for failures, a probe that fails opens it again; where the endpoint only asked for patience, or another
 * dispatcher paused it, failures are counted as ever.
 */
export class Breaker {
  #failures = 0;
  #openings = 0;
  #halfOpen = false;
  #openedAt = 0;

  /** A probe's success is awaited: one in flight, and none from a batch. */
  get isHalfOpen(): boolean {
    return this.#halfOpen;
  }
  get isCalm(): boolean {
    return this.#failures === 0 && !this.#halfOpen;
  }

  narrowed(cap: number): number {
    return this.#halfOpen ? 1 : Math.max(1, Math.floor(cap / 2 ** this.#failures));
  }

  /** `startedAt`: of the attempt. One from before the opening says nothing about what came after. */
  succeeded(startedAt: number): void {
    if (startedAt < this.#openedAt) return;
    this.#failures = 0;
    this.#openings = 0;
    this.#halfOpen = false;
  }

  /** For how long it opens, ms; undefined when it does not. */
  failed(startedAt: number, now: number): number | undefined {
    if (startedAt < this.#openedAt) return undefined;
    this.#failures += 1;
    if (this.#openings === 0 && this.#failures < failuresToOpen) return undefined;
    this.paused(now);
    this.#openings += 1;
    return Math.min(longestOpenMs, firstOpenMs * 2 ** (this.#openings - 1));
  }

  /** A pause was seen, of whatever reason and dispatcher: what comes after it begins with a probe. */
  paused(now: number): void {
    this.#halfOpen = true;
    this.#openedAt = now;
  }
}

/** Answers about one event, from an endpoint that works. */
const ofOneEvent = new Set([400, 409, 413, 415, 422]);

/** Whether a delivery that failed so says something about the endpoint rather than about the event. */
export function isEndpointFailure(reply: HttpReply): boolean {
  if (reply.kind === "failure") return reply.code !== "invalid-request";
  return reply.status >= 300 && !ofOneEvent.has(reply.status);
}
