import type { Claimed, DeliveryStore, Outgoing } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Target, TargetId } from "@sluice/link-store/targets/target.ts";
import type { Channel, OpenTarget, SkipReason } from "../channels/channel.ts";
import type { Delivery } from "../delivery.ts";
import type { HttpClient } from "../http/http-client.ts";
import type { LaneLimits } from "./limits.ts";
import type { LaneMetrics } from "./metrics.ts";

/** One lane a target, so that none waits for another. */
export interface Lanes extends AsyncDisposable {
  /**
   * Tries what a batch of the log brings, at once. Resolves with a fate each, in the order of `deliveries`, when all are
   * settled or handed back, or those that are not are not worth waiting for; at the latest `windowMs` after the call. What
   * is not tried at all is told to `onTurnedAway` before this returns, and is among the fates too. Never rejects.
   */
  attempt(
    deliveries: readonly Delivery[],
    windowMs: number,
    onTurnedAway?: TurnedAway,
  ): Promise<readonly Fate[]>;
  /**
   * How many more deliveries of that target may be claimed now; 0 while it is paused, disabled or full. What it grants
   * counts as taken until the next `take`, or two seconds.
   */
  room(target: TargetId): number;
  /** Queues what was claimed, without a window. Each ends in `onOutcome`, some of them before this returns. */
  take(claimed: readonly Claimed[]): void;
  /**
   * Starts nothing more and hands back what was not started. Resolves when nothing is in flight; once the signal aborts,
   * what still is is cut off.
   */
  drain(signal: AbortSignal): Promise<void>;
}

export type TurnedAway = (these: readonly { readonly delivery: Delivery; readonly fate: Parked }[]) => void;

export interface LanesOptions {
  /** Undefined for what is not to be sent to: gone, disabled, never tested. Asked before every attempt. */
  readonly find: (target: TargetId) => Addressee | undefined;
  /** Asked before every attempt, too: nothing of those is sent. */
  readonly isErased: (event: Outgoing) => boolean;
  readonly http: Pick<HttpClient, "send">;
  /** For channels whose receivers do not deduplicate. While it rejects, nothing is sent to those. */
  readonly ledger: Pick<DeliveryStore, "take" | "untake">;
  /** Dispatchers alive, this one included: caps and rates are divided by it. */
  readonly members: () => number;
  /** What all dispatchers know of pauses, ms since 1970. */
  readonly pausedUntil: (target: TargetId) => number | undefined;
  /** Told once a pause; here it holds at once. `until` in ms since 1970. */
  readonly onPause: (target: TargetId, until: number, reason: PauseReason) => void;
  readonly onDisable: (target: TargetId, reason: string) => void;
  /**
   * What became of a claimed delivery, or of one that was under way when its batch ended. The latter can come before its
   * caller has parked it: whoever settles in a table must wait for that.
   */
  readonly onOutcome: (delivery: Claimed, fate: Settled | Parked) => void;
  readonly limits: LaneLimits;
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly metrics: LaneMetrics;
}

export interface Addressee {
  readonly target: Target;
  readonly channel: Pick<Channel, "deduplicates" | "maxTries">;
  readonly open: OpenTarget;
}

export interface Clock {
  /** ms since 1970. */
  now(): number;
  /** Runs it once, after so long; what it returns calls that off. */
  after(ms: number, run: () => void): () => void;
}

export type PauseReason = "slow-down" | "failing";

export type Fate = Settled | Parked | UnderWay;

export interface Settled {
  readonly kind: "settled";
  readonly outcome: Outcome;
}

/** Not tried; to be kept, and claimed again from `dueAt` on. `made` is as it was. */
export interface Parked {
  readonly kind: "parked";
  /** ms since 1970. */
  readonly dueAt: number;
  readonly why: ParkReason;
}

/** Labels of a metric. */
export const parkReasons = ["full", "slow", "open", "paused", "disabled", "ledger", "stopped"] as const;
export type ParkReason = (typeof parkReasons)[number];

/** Still in flight: to be kept under this lease until `until`; its outcome follows in `onOutcome`. */
export interface UnderWay {
  readonly kind: "under-way";
  readonly lease: string;
  readonly until: number;
}

/** `made` counts this attempt. Codes are those of verdicts, and `already-sent` and `out-of-time` of our own. */
export type Outcome =
  | { readonly kind: "delivered"; readonly made: number; readonly attempt: AttemptMade }
  | ({ readonly kind: "retry"; readonly dueAt: number } & Failed)
  /** For good: refused by the receiver, or tried as often as it may be. */
  | ({ readonly kind: "dead"; readonly refused: boolean } & Failed)
  /** It may have arrived, and the receiver would not notice a second one: not sent again. */
  | ({ readonly kind: "unknown" } & Failed)
  | { readonly kind: "skipped"; readonly reason: SkipReason };

interface Failed {
  readonly made: number;
  readonly code: string;
  readonly detail?: string;
  /** Absent when nothing was sent. */
  readonly attempt?: AttemptMade;
}

export interface AttemptMade {
  readonly startedAt: number;
  readonly durationMs: number;
  /** HTTP status, 0 for none. */
  readonly status: number;
  /** At most 1 KiB of the answer. */
  readonly response: string;
}
