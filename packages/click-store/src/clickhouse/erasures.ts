import { ClickStoreError } from "../click-store.ts";
import type { Erasures } from "../erasures.ts";
import { pause } from "../patience.ts";
import { connect, type Connection } from "./connection.ts";
import { insertRepeatable } from "./insert.ts";
import {
  erasureValues,
  insertErasuresQuery,
  insertFinishedQuery,
  finishedValues,
  selectErasures,
} from "./queries/click-erasures.ts";
import { erasedRangeValues, insertErasedRangesQuery } from "./queries/click-erased-ranges.ts";
import { deleteLetters } from "./queries/click-dead-letters.ts";
import { insertRetentionQuery, selectRetention } from "./queries/click-retention.ts";
import {
  deleteCovered,
  insertCoveredNumbers,
  postponeCoveredHours,
  postponeHours,
  selectCoveredCount,
  selectCoveredDays,
} from "./queries/covered-clicks.ts";
import { selectMutations } from "./queries/system-mutations.ts";

/** For one statement over a workspace. */
const timeouts = { serverMs: 120_000, clientMs: 135_000 };
/** Hours are postponed by an hour, and again so often while a deletion is under way. */
const postponeEveryMs = 1_200_000;

/** See `openErasures`. */
export function openErasures(url: string): Erasures {
  const connection = connect(url, timeouts);
  return {
    list: (signal) => selectErasures(connection, signal),
    add: (erasure, signal) =>
      insertRepeatable(connection, insertErasuresQuery, [erasure], erasureValues, signal),
    count: (erasures, signal) => selectCoveredCount(connection, erasures, signal),
    async erase(erasures, signal) {
      // Before anything is gone: killed behind it, the hours are counted again all the same, and no number is a hole.
      await postponeCoveredHours(connection, erasures, signal);
      for (const day of await selectCoveredDays(connection, erasures, signal))
        await insertCoveredNumbers(connection, erasures, day, signal);
      await deleteCovered(connection, erasures, signal);
      await mutated(connection, "click_events", signal, () => postponeHours(connection, erasures, signal));
    },
    async eraseLetters(letters, signal) {
      if (letters.length === 0) return;
      await deleteLetters(connection, letters, signal);
      await mutated(connection, "click_dead_letters", signal);
    },
    noteErased: (ranges, signal) =>
      insertRepeatable(connection, insertErasedRangesQuery, ranges, erasedRangeValues, signal),
    finish: (erasures, signal) =>
      insertRepeatable(connection, insertFinishedQuery, erasures, finishedValues, signal),
    retention: (signal) => selectRetention(connection, signal),
    setRetention: (workspaceId, days, signal) =>
      insertRepeatable(connection, insertRetentionQuery, [[workspaceId, days]], (row) => row, signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/**
 * Resolves when what was begun is done. The server goes on by itself, whatever becomes of us. Rejects when it says that
 * it cannot.
 */
async function mutated(
  connection: Connection,
  table: string,
  signal: AbortSignal,
  renew?: () => Promise<void>,
): Promise<void> {
  let renewedAt = performance.now();
  for (;;) {
    const { running, failure } = await selectMutations(connection, table, signal);
    if (running === 0) return;
    if (failure !== "") throw new ClickStoreError("operator", 0, `${table} cannot be rewritten: ${failure}`);
    if (renew !== undefined && performance.now() - renewedAt > postponeEveryMs) {
      await renew();
      renewedAt = performance.now();
    }
    await pause(250, signal);
  }
}
