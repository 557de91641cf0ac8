import type { TargetId } from "@sluice/link-store/targets/target.ts";
import type { SkipReason } from "../channels/channel.ts";
import { crash } from "../crash.ts";
import { courseOf } from "./course.ts";
import { type Door, isShut } from "./door.ts";
import { Lane, type Planned, type Queued, type Started } from "./lane.ts";
import type { Addressee, LanesOptions, Parked } from "./lanes.ts";
import { Pool, type Line } from "./pool.ts";
import { send } from "./send.ts";
import { Share } from "./share.ts";
import { createBounds, type Bounds, type Terms } from "./terms.ts";
import type { Ticket } from "./ticket.ts";

/** Lanes that wait for a token or a host, and what has waited too long, are looked at so often. */
const tickMs = 25;

/** A batch that waits loses half a second: at first not every second one, then hardly any. */
const firstAvoidedMs = 1_000;
const longestAvoidedMs = 60_000;

/** What waits in the lanes, and what of it may start. Slots are taken in the turn in which they are seen to be free. */
export class Traffic {
  readonly bounds: Bounds;
  /** Deliveries that wait. */
  readonly queue: Share;
  readonly lanes = new Map<TargetId, Lane>();
  readonly #customers: Pool;
  readonly #vendors: Pool;
  readonly #options: LanesOptions;
  readonly #door: Door;
  readonly #cut = new AbortController();
  readonly #waiting = new Set<Lane>();
  /** In flight and not known to be slow, the oldest first. */
  readonly #young = new Set<Started>();
  #inFlight = 0;
  #isTicking = false;
  #onIdle: (() => void) | undefined;

  constructor(options: LanesOptions, door: Door) {
    const { limits } = options;
    this.#options = options;
    this.#door = door;
    this.bounds = createBounds(options);
    this.queue = new Share(() => limits.queued);
    const start = (lane: Lane, line: Line) => this.#start(lane, line);
    const perWorkspace = () => this.bounds.divided(limits.integrationsPerWorkspace);
    this.#customers = new Pool(new Share(() => limits.totalInFlight), start);
    this.#vendors = new Pool(new Share(() => limits.integrationsInFlight, perWorkspace), start);
  }

  poolOf({ isVendor }: Pick<Terms, "isVendor">): Pool {
    return isVendor ? this.#vendors : this.#customers;
  }

  laneOf(id: TargetId): Lane {
    const lane = this.lanes.get(id) ?? new Lane(id);
    this.lanes.set(id, lane);
    lane.usedAt = this.#options.clock.now();
    return lane;
  }

  /** `start` afterwards. */
  add(lane: Lane, ticket: Ticket, { workspaceId, host }: Terms): void {
    lane.waiting.push({ ticket, workspaceId, host });
    this.queue.take(workspaceId, "quick");
    if (host !== undefined) host.queued += 1;
    this.#options.metrics.queued.inc();
    this.#waiting.add(lane);
  }

  /** Starts what may be started of these lanes, and of those before them. */
  start(lanes: Iterable<Lane>): void {
    for (const lane of lanes) this.#wake(lane);
    this.#pump();
    this.#tickLater();
  }

  /** Before slots are counted: whoever has not answered soon gives back that of a quick or an unknown one, and has a slow one's. */
  age(now: number): void {
    for (const started of this.#young) {
      if (now - started.at < this.#options.limits.patienceMs) return;
      this.#young.delete(started);
      const { workspaceId, pace, shares } = started;
      for (const share of shares) {
        share.give(workspaceId, pace);
        share.take(workspaceId, "slow");
      }
      started.pace = "slow";
    }
  }

  handBack(lane: Lane, parked: Parked): void {
    const all = [...lane.planned.flatMap(({ tickets }) => [...tickets.values()]), ...lane.waiting];
    lane.waiting = [];
    lane.planned = [];
    for (const queued of all) this.#unqueue(queued);
    for (const { ticket } of all) ticket.report(parked);
  }

  /** Hands back what nobody waits for any longer. */
  giveUpWaiting(lane: Lane, now: number): void {
    const isLate = ({ ticket }: Queued) => ticket.patientUntil <= now;
    const late = lane.waiting.filter(isLate);
    const planned = lane.planned.filter(({ tickets }) => [...tickets.values()].some(isLate));
    if (late.length + planned.length === 0) return;
    lane.waiting = lane.waiting.filter((queued) => !isLate(queued));
    lane.planned = lane.planned.filter((each) => !planned.includes(each));
    this.#avoid(lane, now);
    const all = [...planned.flatMap(({ tickets }) => [...tickets.values()]), ...late];
    for (const queued of all) this.#unqueue(queued);
    for (const { ticket } of all) ticket.report({ kind: "parked", dueAt: now, why: "full" });
  }

  /** Resolves when nothing is in flight; `cutOff` hastens that. */
  async idle(): Promise<void> {
    if (this.#inFlight === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#onIdle;
    this.#onIdle = () => {
      before?.();
      resolve();
    };
    await promise;
  }
  cutOff(): void {
    this.#cut.abort();
  }

  #wake(lane: Lane): void {
    if (lane.queued === 0) return;
    const now = this.#options.clock.now();
    const to = this.#door(lane, now);
    if (isShut(to)) return this.handBack(lane, to);
    const terms = this.bounds.of(lane, to, now);
    this.poolOf(terms).add(lane, terms.workspaceId, terms.pace);
  }

  #pump(): void {
    this.age(this.#options.clock.now());
    this.#customers.pump();
    this.#vendors.pump();
  }

  #start(lane: Lane, { workspaceId, pace }: Line): void {
    const now = this.#options.clock.now();
    const to = this.#door(lane, now);
    if (isShut(to)) return this.handBack(lane, to);
    const terms = { ...this.bounds.of(lane, to, now), workspaceId, pace };
    const { host } = terms;
    // Woken by the end of an attempt, or by the next tick.
    if (lane.started.size >= terms.inFlight || lane.bucket.available(terms.perSecond, now) < 1) return;
    if (host !== undefined) {
      if (!host.share.admits(workspaceId, pace)) return;
      if (host.bucket.available(terms.hostPerSecond, now) < 1) return;
    }
    const planned = this.#plan(lane, to, now);
    if (planned !== undefined) this.#begin(lane, to, planned, terms, now);
    this.#wake(lane);
  }

  #plan(lane: Lane, { open }: Addressee, now: number): Planned | undefined {
    if (lane.planned.length > 0) return lane.planned.shift();
    const chunk = this.#withoutErased(lane.waiting.splice(0, open.maxEvents));
    if (chunk.length === 0) return undefined;
    const tickets = new Map<object, Queued>(chunk.map((queued) => [queued.ticket.delivery, queued]));
    const taken = (delivery: object): Queued => {
      const queued = tickets.get(delivery);
      if (queued === undefined) throw new Error("a channel planned what it was not given");
      tickets.delete(delivery);
      return queued;
    };
    const { requests, skipped } = open.plan(
      chunk.map(({ ticket }) => ticket.delivery),
      now,
    );
    const refused = skipped.map(({ delivery, reason }) => ({ queued: taken(delivery), reason }));
    lane.planned = requests.map((request) => ({
      request,
      tickets: new Map(request.deliveries.map((delivery) => [delivery, taken(delivery)])),
    }));
    if (tickets.size > 0) throw new Error("a channel did not plan what it was given");
    this.#skip(refused);
    return lane.planned.shift();
  }

  #withoutErased(some: readonly Queued[]): readonly Queued[] {
    const { true: erased = [], false: left = [] } = Object.groupBy(
      some,
      ({ ticket }): "true" | "false" => `${this.#options.isErased(ticket.delivery.event)}`,
    );
    this.#skip(erased.map((queued) => ({ queued, reason: "erased" })));
    return left;
  }

  #skip(some: readonly { readonly queued: Queued; readonly reason: SkipReason }[]): void {
    for (const { queued } of some) this.#unqueue(queued);
    for (const { queued, reason } of some) {
      this.#options.metrics.skipped.inc({ reason });
      queued.ticket.report({ kind: "settled", outcome: { kind: "skipped", reason } });
    }
  }

  #begin(lane: Lane, to: Addressee, { request, tickets }: Planned, terms: Terms, now: number): void {
    const { workspaceId, pace, host } = terms;
    const pool = this.poolOf(terms);
    const shares = host === undefined ? [pool.share] : [pool.share, host.share];
    const started: Started = { at: now, pace, workspaceId, shares };
    lane.started.add(started);
    if (pace !== "slow") this.#young.add(started);
    lane.avoidedUntil = 0;
    lane.avoidedMs = 0;
    lane.bucket.take(terms.perSecond, now);
    for (const share of shares) share.take(workspaceId, pace);
    host?.bucket.take(terms.hostPerSecond, now);
    this.#inFlight += 1;
    this.#options.metrics.inFlight.inc();
    for (const queued of tickets.values()) this.#unqueue(queued);
    const course = courseOf(lane, to, tickets, this.#options, this.#door);
    const ended = (): void => {
      lane.started.delete(started);
      this.#young.delete(started);
      for (const share of shares) share.give(workspaceId, started.pace);
      this.#inFlight -= 1;
      this.#options.metrics.inFlight.dec();
      this.#wake(lane);
      this.#pump();
      if (this.#inFlight === 0) this.#onIdle?.();
    };
    send(request, to, course, {
      ...this.#options,
      limitMs: terms.limitMs,
      signal: this.#cut.signal,
    }).then(ended, crash);
  }

  #unqueue({ workspaceId, host }: Queued): void {
    this.queue.give(workspaceId, "quick");
    if (host !== undefined) host.queued -= 1;
    this.#options.metrics.queued.dec();
  }

  #tickLater(): void {
    if (this.#isTicking || this.#waiting.size === 0) return;
    this.#isTicking = true;
    this.#options.clock.after(tickMs, () => {
      this.#isTicking = false;
      const now = this.#options.clock.now();
      for (const lane of this.#waiting) {
        this.giveUpWaiting(lane, now);
        if (lane.queued === 0) this.#waiting.delete(lane);
      }
      this.start(this.#waiting);
    });
  }

  /** So that batches do not wait for it again and again. Where others held the slots, it is not the lane that is slow. */
  #avoid(lane: Lane, now: number): void {
    if (lane.started.size > 0) return lane.speed.beSlow();
    lane.avoidedMs = Math.min(longestAvoidedMs, Math.max(firstAvoidedMs, lane.avoidedMs * 2));
    lane.avoidedUntil = now + lane.avoidedMs;
  }
}
