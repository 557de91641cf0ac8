import type { DeadLetters } from "../dead-letters.ts";
import { connect } from "./connection.ts";
import { insertRepeatable } from "./insert.ts";
import { deadLetterMarkValues, insertDeadLetterMarksQuery } from "./queries/click-dead-letter-marks.ts";
import {
  selectDeadLetterCount,
  selectDeadLetterPage,
  selectLatestDeadLetters,
} from "./queries/click-dead-letters.ts";

/** A look at ten million letters takes a few seconds. */
const timeoutMs = 60_000;

/** See `openDeadLetters`. */
export function openClickHouseDeadLetters(url: string): DeadLetters {
  const connection = connect(url, { serverMs: timeoutMs, clientMs: timeoutMs + 5_000 });
  const limited = () => AbortSignal.timeout(timeoutMs + 10_000);
  return {
    count: (filter) => selectDeadLetterCount(connection, filter, limited()),
    latest: (filter, page) => selectLatestDeadLetters(connection, filter, page, limited()),
    page: (filter, page) => selectDeadLetterPage(connection, filter, page, limited()),
    mark: (letters, mark) =>
      insertRepeatable(
        connection,
        insertDeadLetterMarksQuery,
        letters,
        (letter) => deadLetterMarkValues(letter, mark),
        limited(),
      ),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
