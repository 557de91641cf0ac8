import { checkLimit, cursorAt } from "../stored-click.ts";
import type { StoredClicks } from "../stored-clicks.ts";
import { connect } from "./connection.ts";
import { selectRefusedCount } from "./queries/click-refused-ranges.ts";
import { selectClicks } from "./queries/stored-clicks.ts";

/** See `openStoredClicks`. */
export function openStoredClicks(url: string): StoredClicks {
  const connection = connect(url);
  return {
    async read({ after, limit, ...selection }, signal) {
      checkLimit(limit);
      const rows = await selectClicks(connection, selection, { after, limit }, signal);
      // Repeats are alike, and next to each other.
      const clicks = rows.filter(({ event }, index) => event.event_id !== rows[index - 1]?.event.event_id);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return { clicks, ...(last && { next: cursorAt(last) }) };
    },
    refusedNumbers: (run, signal) => selectRefusedCount(connection, run, signal),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
