import { randomUUID } from "node:crypto";
import type { Log } from "@sluice/service/log.ts";
import { checkLimit } from "../checks.ts";
import { openPostgres, patientConnectTimeoutMs } from "../postgres.ts";
import * as dead from "../queries/dead-deliveries.ts";
import * as rows from "../queries/deliveries.ts";
import * as ledger from "../queries/delivery-ledger.ts";
import * as targets from "../queries/delivery-targets.ts";
import * as dispatchers from "../queries/dispatchers.ts";
import { countErasedEvents } from "../queries/delivery-erasure.ts";
import { listStandings } from "../queries/delivery-standings.ts";
import { insertParked } from "../queries/park-deliveries.ts";
import type { TargetId } from "../targets/target.ts";
import type { DeliveryLimits, DeliveryStore, Pair } from "./delivery-store.ts";
import { eraseDeliveries } from "./erase-deliveries.ts";
import { aliveMs, ledgerMs } from "./retention.ts";
import { createSweep } from "./sweep.ts";

export interface DeliveryStoreOptions {
  readonly log: Log;
  readonly limits?: Partial<DeliveryLimits>;
}

/** A quarter of a second: for so long one statement keeps the counts of its targets to itself. */
const parkBatch = 5_000;
/** Some 100 ms of a busy Postgres. */
const redoBatch = 5_000;

/** As `openLinkStore`, with connections of its own: a backlog must not keep links from being looked up. */
export function openDeliveryStore(url: string, { log, limits = {} }: DeliveryStoreOptions): DeliveryStore {
  const postgres = openPostgres(url, log, patientConnectTimeoutMs);
  const { query } = postgres;
  const bounds = { perTarget: 1_000_000, perWorkspace: 2_000_000, deadPerTarget: 100_000, ...limits };
  return {
    async park(parked, now) {
      const missed = new Map<TargetId, number>();
      for (let from = 0; from < parked.length; from += parkBatch) {
        const found = await insertParked(query, parked.slice(from, from + parkBatch), bounds, now);
        for (const { target, count } of found) missed.set(target, (missed.get(target) ?? 0) + count);
      }
      return missed;
    },
    waiting: async (pairs) => pairNames(await rows.listWaitingOf(query, pairs)),
    due: (now, limit) => rows.listDue(query, now, limit),
    claim: (wants, times) => rows.claimDue(query, { wants, ...times, lease: randomUUID() }),
    settle: (settlements, now) => rows.settleLeased(query, settlements, now),
    release: (leases, dueAt) => rows.releaseLeased(query, leases, dueAt),

    pauses: (now) => targets.listPauses(query, now),
    pause: (target, until, reason) => targets.lengthenPause(query, target, until, reason),

    async take(pairs, now) {
      return pairNames(await ledger.takePairs(query, pairs, { now, expiredAt: now - ledgerMs }));
    },
    untake: (pairs) => ledger.deletePairs(query, pairs),

    async beat(member, now) {
      return 1 + (await dispatchers.touchDispatcher(query, member, { now, aliveAfter: now - aliveMs }));
    },
    leave: (member) => dispatchers.deleteDispatcher(query, member),

    failing: (target, now) => targets.markFailing(query, target, now),
    working: (some) => targets.markWorking(query, some),

    sweep: createSweep(query, bounds.deadPerTarget),
    async backlog(now) {
      const [oldest] = await rows.listDue(query, now, 1);
      return { ...(await targets.countBacklog(query)), oldestDueAt: oldest?.oldestDueAt };
    },
    erase: (clicks) => eraseDeliveries(query, clicks),
    countErased: (clicks) => countErasedEvents(query, clicks),

    async dead(target, page) {
      checkLimit(page.limit);
      return dead.listDead(query, target, page);
    },
    redo: (target, which, now) =>
      dead.reviveDead(query, target, which, { now, limit: redoBatch, perTarget: bounds.perTarget }),
    gaps: (target) => dead.listGaps(query, target),
    async standings(page) {
      checkLimit(page.limit);
      return listStandings(query, page);
    },
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

function pairNames(pairs: readonly Pair[]): ReadonlySet<string> {
  return new Set(pairs.map(({ target, eventId }) => `${target} ${eventId}`));
}
