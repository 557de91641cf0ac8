import type { Value } from "../../body.ts";
import type { Mark, StoredDeadLetter } from "../../dead-letters.ts";

export const insertDeadLetterMarksQuery = `INSERT INTO click_dead_letter_marks
  (log, topic, record_id, appended_at, mark) FORMAT JSONCompactEachRow`;

export function deadLetterMarkValues(letter: StoredDeadLetter, mark: Mark): readonly Value[] {
  const { log, topic, recordId, appendedAt } = letter;
  return [log, topic, recordId, appendedAt, mark];
}
