import { silentLog, type Log } from "@sluice/service/log.ts";
import type { AttemptLog, Attempts } from "../attempts.ts";
import { createQuestions } from "../attempts/questions.ts";
import { ClickStoreError } from "../click-store.ts";
import { connect } from "./connection.ts";
import { noPartition } from "./errors.ts";
import { createPartitions } from "./partitions.ts";
import { dropPartitions } from "./queries/partitions.ts";
import { insertAttempts, selectAttempts, selectAttemptSums } from "./queries/webhook-attempts.ts";

const table = { parent: "webhook_attempts", unit: "day" } as const;
const dayMs = 86_400_000;
/** Whole days before today: a delivery is tried for 75 hours, and a week is what a person goes back. */
const keptDays = 7;

/** See `openAttemptLog`. */
export function openPostgresAttemptLog(url: string, log: Log): AttemptLog {
  const connection = connect(url, log, undefined, "attempts");
  const days = createPartitions(connection, table, dayMs);
  return {
    async write(attempts, signal) {
      if (attempts.length === 0) return;
      await days.ensure(attempts, signal);
      try {
        await insertAttempts(connection, attempts, signal);
      } catch (error) {
        if (error instanceof ClickStoreError && error.message === noPartition) days.forget();
        throw error;
      }
    },
    async keep(now, signal) {
      await days.ensure([{ ts: now }], signal);
      await dropPartitions(connection, table, now - keptDays * dayMs, signal);
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** See `openAttempts`. */
export function openAttempts(url: string): Attempts {
  const connection = connect(url, silentLog);
  return {
    ...createQuestions({
      list: (filter, page, signal) => selectAttempts(connection, filter, page, signal),
      summary: (filter, limit, signal) => selectAttemptSums(connection, filter, limit, signal),
    }),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
