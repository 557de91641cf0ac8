import type { Value } from "../body.ts";
import type { DeadLetter } from "../click-store.ts";

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

/** Whoever appended set this clock, and a letter that the table refuses would have nowhere left to go. */
function toDateTime64(ms: number): number {
  const years1970To2299 = 10_413_791_999_999;
  return Number.isFinite(ms) ? Math.min(Math.max(Math.trunc(ms), 0), years1970To2299) : 0;
}
