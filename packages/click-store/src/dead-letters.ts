import type { DeadLetter } from "./click-store.ts";
import { connect } from "./clickhouse/connection.ts";
import { selectDeadLetters } from "./clickhouse/queries/click-dead-letters.ts";

export interface StoredDeadLetter extends DeadLetter {
  /** When it was stored last, in ms since 1970 by the server's clock. */
  readonly storedAt: number;
}

/** The latest dead letters, at most so many, the latest first. Rejects with a ClickStoreError; does not retry. */
export async function listDeadLetters(
  url: string,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<readonly StoredDeadLetter[]> {
  await using connection = connect(url);
  return await selectDeadLetters(connection, limit, signal);
}
