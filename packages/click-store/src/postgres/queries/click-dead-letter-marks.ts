import type { Mark, StoredDeadLetter } from "../../dead-letters.ts";
import type { Connection } from "../connection.ts";

export async function insertDeadLetterMarks(
  connection: Connection,
  letters: readonly StoredDeadLetter[],
  mark: Mark,
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    `INSERT INTO click_dead_letter_marks (log, topic, record_id, appended_at, mark)
     SELECT DISTINCT log, topic, record_id, to_timestamp(ms / 1000), $5
     FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[]) AS given (log, topic, record_id, ms)
     ON CONFLICT (log, topic, record_id, appended_at)
       DO UPDATE SET mark = excluded.mark, marked_at = excluded.marked_at`,
    [
      letters.map(({ log }) => log),
      letters.map(({ topic }) => topic),
      letters.map(({ recordId }) => recordId),
      letters.map(({ appendedAt }) => appendedAt),
      mark,
    ],
    signal,
  );
}
