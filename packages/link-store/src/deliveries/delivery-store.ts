/** What still has to be delivered. All clocks are passed in, in ms since 1970; nothing here reads that of Postgres. */

import type { TargetId } from "../targets/target.ts";

/** What is delivered, whatever the target. Stored once, however many targets wait for it. */
export interface Outgoing {
  /** A click's `event_id`, or an own UUIDv7. */
  readonly id: string;
  readonly type: "link.clicked" | "endpoint.disabled" | "endpoint.test";
  readonly workspaceId: number;
  /** When it happened. */
  readonly ts: number;
  /** Of a click, for erasures. */
  readonly linkId?: number;
  readonly visitor?: string;
  /** JSON: of a click the record of `clicks.fanout` (event and `enrichment`), else the `data` that is sent. */
  readonly body: string;
}

export interface NewParked {
  readonly target: TargetId;
  readonly event: Outgoing;
  /** Attempts made so far. */
  readonly made: number;
  readonly replayed: boolean;
  readonly dueAt: number;
  /** Taken already, by an attempt under way: nobody claims it before `dueAt`. Settled under this name. */
  readonly lease?: string;
}

export interface Claimed {
  readonly target: TargetId;
  readonly event: Outgoing;
  readonly made: number;
  readonly replayed: boolean;
  readonly lease: string;
}

/** A row that is leased under this name. */
export interface Leased {
  readonly target: TargetId;
  readonly eventId: string;
  readonly lease: string;
}

export type Settlement = Leased &
  (
    | { readonly kind: "done" }
    | { readonly kind: "retry"; readonly made: number; readonly dueAt: number; readonly code: string }
    | { readonly kind: "dead"; readonly made: number; readonly code: string; readonly detail?: string }
  );

/** An event for a target. */
export interface Pair {
  readonly target: TargetId;
  readonly eventId: string;
}

export interface DueTarget {
  readonly target: TargetId;
  readonly workspaceId: number;
  readonly oldestDueAt: number;
  /** Rows of it that wait, whether or not they are due. */
  readonly parked: number;
}

/**
 * Every method may be called concurrently, also by several processes, and rejects with a LinkStoreError: `unavailable`
 * when Postgres does not answer in time.
 */
export interface DeliveryStore extends AsyncDisposable {
  /**
   * Bulk inserts of up to 5,000 rows, each a transaction; a (target, event) that is there stays as it is, so what failed
   * half-way is parked again with no harm. What is over a target's or a workspace's bound is not kept but counted in its
   * range of time. Resolves to how many of each target were not kept; of one deleted nothing is kept nor counted.
   */
  park(rows: readonly NewParked[], now: number): Promise<ReadonlyMap<TargetId, number>>;
  /** Which of these pairs wait, leased or not, each as `${target} ${eventId}`; dead ones do not. */
  waiting(pairs: readonly Pair[]): Promise<ReadonlySet<string>>;
  /**
   * Targets with something due: the longest waiting of each workspace, once of those that work and once of those that
   * fail, then the next of each.
   */
  due(now: number, limit: number): Promise<readonly DueTarget[]>;
  /** Passes over what others are taking; the longest due of each target first; leased until `leaseUntil`. */
  claim(
    wants: readonly { readonly target: TargetId; readonly count: number }[],
    options: { readonly now: number; readonly leaseUntil: number },
  ): Promise<readonly Claimed[]>;
  /** One statement. What is no longer leased under that name is left alone. */
  settle(settlements: readonly Settlement[], now: number): Promise<void>;
  /** Gives rows back that cannot be sent now: due at `dueAt`, `made` as it was. */
  release(leases: readonly Leased[], dueAt: number): Promise<void>;

  /** Until when, of all targets that are paused now, by whichever dispatcher. */
  pauses(now: number): Promise<ReadonlyMap<TargetId, number>>;
  /** Never shortens one. */
  pause(target: TargetId, until: number, reason: string): Promise<void>;

  /** Which of these pairs were not in the ledger, each as `${target} ${eventId}`; they are now, for 72 h. */
  take(pairs: readonly Pair[], now: number): Promise<ReadonlySet<string>>;
  /** They were not sent after all. */
  untake(pairs: readonly Pair[]): Promise<void>;

  /** "I am alive": resolves to how many dispatchers are, this one included (seen within 5 s). */
  beat(member: string, now: number): Promise<number>;
  leave(member: string): Promise<void>;

  /** A failure with no success since: resolves to when the first such failure was. */
  failing(target: TargetId, now: number): Promise<number>;
  /** A success of each. Harmless to repeat. */
  working(targets: readonly TargetId[]): Promise<void>;

  /**
   * Deletes what is over its time: dead rows (30 days), ledger (72 h), events nobody waits for, ended pauses, members
   * gone. At most a batch; resolves to whether there may be more.
   */
  sweep(now: number): Promise<boolean>;
  /** For metrics: rows parked and dead, the oldest due of what may be sent. */
  backlog(now: number): Promise<Backlog>;
  /** Takes out what waits for these clicks, and their events. What is parked later comes back: leave it out before. */
  erase(clicks: ErasedClicks): Promise<void>;
  /** How many events that would take. */
  countErased(clicks: ErasedClicks): Promise<number>;

  /** Dead rows of a target, the last to die first. */
  dead(target: TargetId, page: DeadPage): Promise<readonly DeadDelivery[]>;
  /**
   * Makes dead ones due again, by their events' `ts` from the first up to but not with the second: at most a batch, and
   * what its bound leaves room for. Resolves to how many; ask again until there are none.
   */
  redo(
    target: TargetId,
    which: { readonly fromTs: number; readonly toTs: number },
    now: number,
  ): Promise<number>;
  /** What was over a bound and not kept, by hours of the events' `ts`, for 30 days. */
  gaps(target: TargetId): Promise<readonly Gap[]>;
  /** Of one target; or of all that have anything waiting, dead, paused or failing, those with the most waiting first. */
  standings(which: StandingPage): Promise<readonly TargetStanding[]>;
}

export interface DeliveryLimits {
  /** Rows that may wait for one target; 1,000,000 without it. */
  readonly perTarget: number;
  /** Rows that may wait for all targets of a workspace; 2,000,000 without it. */
  readonly perWorkspace: number;
  /** Dead rows kept of one target, the last to die; 100,000 without it. */
  readonly deadPerTarget: number;
}

/** Clicks of a workspace, of one link of it, or of one visitor, up to a `ts`, that one included. */
export interface ErasedClicks {
  readonly workspaceId: number;
  readonly linkId?: number;
  readonly visitor?: string;
  readonly upTo: number;
}

export interface DeadPage {
  /** Only those that died before this one: the last of the page before. */
  readonly before?: { readonly deadAt: number; readonly eventId: string };
  readonly limit: number;
}

export interface DeadDelivery {
  readonly eventId: string;
  readonly type: string;
  readonly ts: number;
  readonly deadAt: number;
  readonly made: number;
  readonly code: string;
  readonly detail: string;
}

/** Both ends included. */
export interface Gap {
  readonly fromTs: number;
  readonly toTs: number;
  readonly count: number;
}

export interface StandingPage {
  readonly target?: TargetId;
  readonly workspaceId?: number;
  readonly limit: number;
}

/** How things stand with a target. */
export interface TargetStanding {
  readonly target: TargetId;
  readonly workspaceId: number;
  readonly parked: number;
  readonly dead: number;
  /** Of what is parked. */
  readonly oldestDueAt: number | undefined;
  /** May be over. */
  readonly pausedUntil: number | undefined;
  readonly pauseReason: string;
  readonly failingSince: number | undefined;
}

export interface Backlog {
  readonly parked: number;
  readonly dead: number;
  readonly oldestDueAt: number | undefined;
}
