import { silentLog } from "@sluice/service/log.ts";
import { ClickStoreError } from "../click-store.ts";
import { createAnswers } from "../statistics/answers.ts";
import type { Statistics } from "../statistics.ts";
import { connect, type Timeouts } from "./connection.ts";
import { selectCounts } from "./queries/statistics.ts";

const ordinary: Timeouts = { serverMs: 10_000, clientMs: 12_000 };

/** See `openStatistics`. Nothing is counted ahead: docs/clicks-in-postgres.md says what that costs. */
export function openPostgresStatistics(url: string, timeouts = ordinary): Statistics {
  const connection = connect(url, silentLog, timeouts, "statistics");
  return {
    ...createAnswers((counting, signal) => selectCounts(connection, counting, signal).catch(sayWhy)),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

function sayWhy(error: unknown): never {
  if (!(error instanceof ClickStoreError) || error.code !== queryCanceled) throw error;
  const message = "the answer takes longer than ten seconds: ask about less time";
  throw new ClickStoreError("retry", error.code, message, { cause: error });
}

const queryCanceled = "57014";
