/** What a kind of target is made of. One folder each, this one interface. */
import type { Target } from "@sluice/link-store/targets/target.ts";
import type { Delivery } from "../delivery.ts";
import type { HttpReply, HttpRequest } from "../http/http-client.ts";

export interface Channel {
  /** Whether the receiver discards what it gets twice. Without it, the ledger sees to it that nothing is sent twice. */
  readonly deduplicates: boolean;
  /** Tries in all; the whole schedule (10) without it. */
  readonly maxTries?: number;
  /** Parses what the target says of itself, once. Throws a ChannelSettingsError that names each wrong field. */
  open(target: Target): OpenTarget;
}

export interface OpenTarget {
  /** What caps and rates of a destination host go by: lower-case host and port. For a vendor: the vendor's. */
  readonly host: string;
  /** At most so many deliveries are given to `plan` at once: 1 for webhooks and pixels. */
  readonly maxEvents: number;
  /** Pure. Every delivery is in exactly one request or skipped. `now` in ms since 1970. */
  plan(deliveries: readonly Delivery[], now: number): Plan;
  /** The request of `sluice … test`, and what its answer means; an ordinary delivery of `endpoint.test` without it. */
  test?(now: number): PlannedRequest;
}

export interface Plan {
  readonly requests: readonly PlannedRequest[];
  readonly skipped: readonly { readonly delivery: Delivery; readonly reason: SkipReason }[];
}

/** Labels of a metric. */
export const skipReasons = [
  "no-identifier",
  "no-consent",
  "bot",
  "too-old",
  "in-future",
  "too-large",
  "no-click",
  "erased",
] as const;
export type SkipReason = (typeof skipReasons)[number];

export interface PlannedRequest {
  readonly deliveries: readonly Delivery[];
  readonly request: HttpRequest;
  /** What the answer means for each delivery. Pure; never throws, whatever the answer says. */
  read(reply: HttpReply, now: number): Reading;
}

export interface Reading {
  /** In the order of `deliveries`. */
  readonly verdicts: readonly Verdict[];
  /** One of them spoils the rest and nobody says which: plan each half again. Only with more than one. */
  readonly split?: true;
  /** What it says about the target as a whole. */
  readonly advice?: Advice;
}

/** `code` is of a closed set (docs/webhooks.md explains each); `detail` is for the customer: short, no secrets, no addresses. */
export type Verdict =
  | { readonly kind: "delivered" }
  /** Tried again on the schedule. */
  | { readonly kind: "failed"; readonly code: string; readonly detail?: string }
  /** For good: a dead delivery at once. */
  | { readonly kind: "refused"; readonly code: string; readonly detail?: string }
  /** It may have arrived. As `failed` where the receiver deduplicates, else it is not sent again and counted. */
  | { readonly kind: "unknown"; readonly code: string; readonly detail?: string };

export type Advice =
  /** Nothing is sent to it for so long: Retry-After. Capped at 24 h by whoever follows it. */
  | { readonly kind: "slow-down"; readonly forMs: number }
  /** Until a person acts: 410 of a webhook, a dead token. */
  | { readonly kind: "disable"; readonly reason: string };
