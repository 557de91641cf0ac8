import type { TargetId } from "@sluice/link-store/targets/target.ts";
import type { PlannedRequest } from "../channels/channel.ts";
import { Breaker } from "./breaker.ts";
import type { Host } from "./hosts.ts";
import type { ParkReason } from "./lanes.ts";
import type { LaneLimits } from "./limits.ts";
import type { Pace, Share } from "./share.ts";
import { Speed } from "./speed.ts";
import type { Ticket } from "./ticket.ts";
import { TokenBucket } from "./token-bucket.ts";

/** What is known of one target, and what waits for it. Forgotten when idle: few objects, because there are many. */
export class Lane {
  readonly id: TargetId;
  readonly bucket = new TokenBucket();
  readonly breaker = new Breaker();
  readonly speed = new Speed();
  /** First in, first out. */
  waiting: Queued[] = [];
  /** Requests that hold some that waited, and wait for a slot themselves. */
  planned: Planned[] = [];
  /** In flight, the oldest first. */
  readonly started = new Set<Started>();
  /** ms since 1970, as of our own attempts. */
  pausedUntil = 0;
  /** Why. */
  pausedFor: ParkReason = "paused";
  usedAt = 0;
  /** No batch waits before, because one has waited in vain for a slot that others held. */
  avoidedUntil = 0;
  avoidedMs = 0;

  constructor(id: TargetId) {
    this.id = id;
  }

  get queued(): number {
    return this.waiting.length + this.planned.reduce((sum, { tickets }) => sum + tickets.size, 0);
  }

  /** Slow also while an answer is overdue: the first one is as soon as no batch waits for it any more. */
  pace(now: number, { slowMs, patienceMs }: Pick<LaneLimits, "slowMs" | "patienceMs">): Pace {
    if (this.speed.isSlow) return "slow";
    const isNew = this.speed.averageMs === undefined;
    const [oldest] = this.started;
    const waitedMs = oldest === undefined ? 0 : now - oldest.at;
    if (waitedMs > slowMs || (isNew && waitedMs >= patienceMs)) return "slow";
    return isNew ? "new" : "quick";
  }
}

export interface Queued {
  readonly ticket: Ticket;
  readonly workspaceId: number;
  /** Whose count of waiting deliveries it is in. */
  readonly host: Host | undefined;
}

export interface Planned {
  readonly request: PlannedRequest;
  readonly tickets: ReadonlyMap<object, Queued>;
}

export interface Started {
  readonly at: number;
  /** As its slot is counted. */
  pace: Pace;
  readonly workspaceId: number;
  readonly shares: readonly Share[];
}
