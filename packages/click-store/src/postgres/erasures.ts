import { silentLog } from "@sluice/service/log.ts";
import type { Erasures } from "../erasures.ts";
import { connect } from "./connection.ts";
import { deleteLetters } from "./queries/click-dead-letters.ts";
import { insertErasedRanges } from "./queries/click-erased-ranges.ts";
import { insertErasure, selectErasures, updateFinished } from "./queries/click-erasures.ts";
import { selectRetention, updateRetention } from "./queries/click-retention.ts";
import { deleteCovered, selectCoveredCount } from "./queries/covered-clicks.ts";

/** For one statement, of which the longest counts a workspace. */
const timeouts = { serverMs: 120_000, clientMs: 135_000 };

/** See `openErasures`. */
export function openErasures(url: string): Erasures {
  const connection = connect(url, silentLog, timeouts);
  return {
    list: (signal) => selectErasures(connection, signal),
    add: (erasure, signal) => insertErasure(connection, erasure, signal),
    async count(erasures, signal) {
      let clicks = 0;
      for (const erasure of erasures) clicks += await selectCoveredCount(connection, erasure, signal);
      return clicks;
    },
    async erase(erasures, signal) {
      for (const erasure of erasures) while ((await deleteCovered(connection, erasure, signal)) > 0);
    },
    eraseLetters: (letters, signal) => deleteLetters(connection, letters, signal),
    noteErased: (ranges, signal) => insertErasedRanges(connection, ranges, signal),
    finish: (erasures, signal) => updateFinished(connection, erasures, signal),
    retention: (signal) => selectRetention(connection, signal),
    setRetention: (workspaceId, days, signal) => updateRetention(connection, workspaceId, days, signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
