import type { RedisServer } from "@sluice/redis-server/redis-server.ts";
import { ErrorReply } from "@redis/client";
import { EventLogError } from "../event-log.ts";

/** The first word of the server's refusal, such as NOGROUP or OOM; undefined when the server has not answered. */
export function refusalCode(error: unknown): string | undefined {
  const cause = error instanceof EventLogError ? error.cause : error;
  return cause instanceof ErrorReply ? cause.message.split(" ", 1)[0] : undefined;
}

/** The stream or the group is not there any more. A read that waits is told otherwise, and learns it when it asks again. */
export function isGroupGone(error: unknown): boolean {
  return refusalCode(error) === "NOGROUP";
}

/**
 * `full` when the server has no memory left for writing, `misuse` when the key is not a stream, else `unavailable`:
 * LOADING, READONLY, MASTERDOWN, a wrong password, no connection. All of these end without us.
 */
export function toEventLogError(
  error: unknown,
  { address, explain }: Pick<RedisServer, "address" | "explain">,
): EventLogError {
  if (error instanceof EventLogError) return error;
  const code = refusalCode(error);
  const kind = code === "OOM" ? "full" : code === "WRONGTYPE" ? "misuse" : "unavailable";
  return new EventLogError(kind, `redis: ${address}: ${explain(error)}`, { cause: error });
}
