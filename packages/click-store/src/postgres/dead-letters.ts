import { silentLog } from "@sluice/service/log.ts";
import type { DeadLetters } from "../dead-letters.ts";
import { connect } from "./connection.ts";
import { insertDeadLetterMarks } from "./queries/click-dead-letter-marks.ts";
import {
  selectDeadLetterCount,
  selectDeadLetterPage,
  selectLatestDeadLetters,
} from "./queries/click-dead-letters.ts";

/** A look at ten million letters takes some seconds. */
const timeoutMs = 60_000;

/** See `openDeadLetters`. */
export function openPostgresDeadLetters(url: string): DeadLetters {
  const connection = connect(url, silentLog, { serverMs: timeoutMs, clientMs: timeoutMs + 5_000 });
  const limited = () => AbortSignal.timeout(timeoutMs + 10_000);
  return {
    count: (filter) => selectDeadLetterCount(connection, filter, limited()),
    latest: (filter, page) => selectLatestDeadLetters(connection, filter, page, limited()),
    page: (filter, page) => selectDeadLetterPage(connection, filter, page, limited()),
    mark: (letters, mark) => insertDeadLetterMarks(connection, letters, mark, limited()),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
