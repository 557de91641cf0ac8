import type { Reading } from "../channels/channel.ts";
import type { HttpReply } from "../http/http-client.ts";
import { type Breaker, isEndpointFailure } from "./breaker.ts";
import type { Lane, Planned } from "./lane.ts";
import type { Addressee, LanesOptions, PauseReason } from "./lanes.ts";
import { type Door, disabledMs, isShut } from "./door.ts";
import type { Course } from "./send.ts";

const longestPauseMs = 24 * 3_600_000;
/** Upwards alone: nothing is sent before the receiver said (facts: svix #2199). */
const pauseJitter = 0.1;

/** What one request does to its lane and to its deliveries. What waits in the lane sees it at the door. */
export function courseOf(
  lane: Lane,
  { target: { kind } }: Addressee,
  tickets: Planned["tickets"],
  options: LanesOptions,
  door: Door,
): Course {
  const { clock, random, metrics, limits } = options;
  const ticketOf = (delivery: object) => {
    const queued = tickets.get(delivery);
    if (queued === undefined) throw new Error("a channel read what it was not given");
    return queued.ticket;
  };
  const pause = (forMs: number, reason: PauseReason): void => {
    const now = clock.now();
    const until = now + Math.min(longestPauseMs, Math.ceil(forMs * (1 + pauseJitter * random())));
    if (until <= Math.max(now, lane.pausedUntil)) return;
    lane.pausedUntil = until;
    lane.pausedFor = reason === "failing" ? "open" : "paused";
    options.onPause(lane.id, until, reason);
  };
  return {
    settle(delivery, outcome) {
      if (outcome.kind === "skipped") metrics.skipped.inc({ reason: outcome.reason });
      else metrics.attempts.inc({ kind, outcome: outcome.kind });
      ticketOf(delivery).report({ kind: "settled", outcome });
    },
    handBack: (delivery, why) =>
      ticketOf(delivery).report({ kind: "parked", dueAt: clock.now() + retryMs, why }),
    heard(reply, reading, attempt) {
      metrics.seconds.observe({ kind }, attempt.durationMs / 1_000);
      lane.speed.ended(attempt.durationMs, limits.slowMs);
      const { advice } = reading;
      if (advice?.kind === "disable") {
        lane.pausedUntil = Math.max(lane.pausedUntil, clock.now() + disabledMs);
        lane.pausedFor = "disabled";
        options.onDisable(lane.id, advice.reason);
      } else if (advice?.kind === "slow-down") pause(advice.forMs, "slow-down");
      else {
        const openMs = judged(lane.breaker, reply, reading, attempt.startedAt, clock.now());
        if (openMs !== undefined) pause(openMs, "failing");
      }
    },
    isStopped: () => isShut(door(lane, clock.now())),
    pausedUntil: () => lane.pausedUntil,
  };
}

/** The ledger's store is away; so is whoever parks. */
const retryMs = 1_000;

/** For how long the breaker opens, if it does. */
function judged(
  breaker: Breaker,
  reply: HttpReply,
  { verdicts, split }: Reading,
  startedAt: number,
  now: number,
): number | undefined {
  if (split === true || (reply.kind === "failure" && reply.code === "aborted")) return undefined;
  const hasFailed = verdicts.some(({ kind }) => kind === "failed" || kind === "unknown");
  if (hasFailed && isEndpointFailure(reply)) return breaker.failed(startedAt, now);
  breaker.succeeded(startedAt);
  return undefined;
}
