import type { AttemptLog, Attempts } from "../attempts.ts";
import { createQuestions } from "../attempts/questions.ts";
import { connect } from "./connection.ts";
import { insertRepeatable } from "./insert.ts";
import {
  attemptValues,
  insertAttemptsQuery,
  selectAttempts,
  selectAttemptSums,
} from "./queries/webhook-attempts.ts";

/** See `openAttemptLog`. */
export function openClickHouseAttemptLog(url: string): AttemptLog {
  const connection = connect(url);
  return {
    write: (attempts, signal) =>
      insertRepeatable(connection, insertAttemptsQuery, attempts, attemptValues, signal),
    // The table makes and drops its days itself.
    keep: async (_now, signal) => signal.throwIfAborted(),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** See `openAttempts`. */
export function openAttempts(url: string): Attempts {
  const connection = connect(url);
  return {
    ...createQuestions({
      list: (filter, page, signal) => selectAttempts(connection, filter, page, signal),
      summary: (filter, limit, signal) => selectAttemptSums(connection, filter, limit, signal),
    }),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
