import type { Query } from "../postgres.ts";
import {
  deleteGoneTargets,
  deleteOverdue,
  deleteSmall,
  deleteTaken,
  deleteUnawaited,
  listOverdue,
} from "../queries/delivery-sweep.ts";
import { deadMs, ledgerMs, memberMs, testMs, unawaitedMs } from "./retention.ts";

/** Some 100 ms of a busy Postgres. */
const batch = 5_000;
/** Targets in one turn: with a batch of each, a second or two. */
const maxTargets = 20;

const firstId = "00000000-0000-0000-0000-000000000000";

/** Turns of which each takes a batch of everything; events are walked through from turn to turn. */
export function createSweep(query: Query, maxDead: number): (now: number) => Promise<boolean> {
  let afterId = firstId;

  return async (now) => {
    const overdue = { deadUpTo: now - deadMs, dueUpTo: now - deadMs, maxDead };
    let full = false;
    const found = await listOverdue(query, overdue, maxTargets);
    for (const target of found) {
      full = (await deleteOverdue(query, target, overdue, { now, limit: batch })) >= batch || full;
    }
    full = (await deleteGoneTargets(query, batch)) >= batch || full;
    full = (await deleteTaken(query, now - ledgerMs, batch)) >= batch || full;
    await deleteSmall(query, {
      now,
      gapUpTo: now - deadMs,
      testUpTo: now - testMs,
      seenUpTo: now - memberMs,
    });
    const walked = await deleteUnawaited(query, afterId, { parkedUpTo: now - unawaitedMs, limit: batch });
    afterId = walked.last ?? firstId;
    return full || found.length === maxTargets || walked.last !== undefined;
  };
}
