import type { Value } from "../../body.ts";
import type { DeadLetter } from "../../click-store.ts";
import type { Connection } from "../connection.ts";
import type { StoredDeadLetter } from "../../dead-letters.ts";

/** The bytes go in as base64, which any format can carry; the table keeps them as they were. */
export const insertDeadLettersQuery = `INSERT INTO click_dead_letters
  (log, topic, record_id, appended_at, key, value_base64, reason, error) FORMAT JSONCompactEachRow`;

export function deadLetterValues(letter: DeadLetter): readonly Value[] {
  return [
    letter.log,
    letter.topic,
    letter.recordId,
    toDateTime64(letter.appendedAt),
    letter.key,
    Buffer.from(letter.value).toString("base64"),
    letter.reason,
    letter.error,
  ];
}

/** Every text as base64, so that nothing in it can be taken for the end of a column. */
export async function selectDeadLetters(
  connection: Connection,
  limit: number,
  signal: AbortSignal,
): Promise<StoredDeadLetter[]> {
  const lines = await connection.select(
    `SELECT base64Encode(log), base64Encode(topic), base64Encode(record_id), base64Encode(key), base64Encode(value),
       base64Encode(reason), base64Encode(error), toUnixTimestamp64Milli(appended_at), toUnixTimestamp64Milli(stored_at)
     FROM click_dead_letters FINAL ORDER BY stored_at DESC, record_id LIMIT {limit:UInt32}`,
    { limit },
    signal,
  );
  return lines.map((line) => {
    const columns = line.split("\t");
    const bytes = (index: number) => Buffer.from(columns[index] ?? "", "base64");
    return {
      log: bytes(0).toString(),
      topic: bytes(1).toString(),
      recordId: bytes(2).toString(),
      key: bytes(3).toString(),
      value: bytes(4),
      reason: bytes(5).toString(),
      error: bytes(6).toString(),
      appendedAt: Number(columns[7]),
      storedAt: Number(columns[8]),
    };
  });
}

/** Whoever appended set this clock, and a letter that the table refuses would have nowhere left to go. */
function toDateTime64(ms: number): number {
  const years1970To2299 = 10_413_791_999_999;
  return Number.isFinite(ms) ? Math.min(Math.max(Math.trunc(ms), 0), years1970To2299) : 0;
}
