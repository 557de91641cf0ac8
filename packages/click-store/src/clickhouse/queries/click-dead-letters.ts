import type { Value } from "../../body.ts";
import type { DeadLetter } from "../../click-store.ts";
import {
  type DeadLetters,
  letterId,
  type LetterFilter,
  type LetterKey,
  pageOf,
  type StoredDeadLetter,
  toMark,
  toStorableTime,
  year2299,
} from "../../dead-letters.ts";
import type { Connection, Parameters } from "../connection.ts";

/** The bytes go in as base64, which any format can carry; the table keeps them as they were. */
export const insertDeadLettersQuery = `INSERT INTO click_dead_letters
  (log, topic, record_id, appended_at, key, value_base64, reason, error, sluice_version, edge_seq)
  FORMAT JSONCompactEachRow`;

export function deadLetterValues(letter: DeadLetter): readonly Value[] {
  return [
    letter.log,
    letter.topic,
    letter.recordId,
    toStorableTime(letter.appendedAt),
    letter.key,
    Buffer.from(letter.value).toString("base64"),
    letter.reason,
    letter.error,
    letter.version,
    letter.number,
  ];
}

/** Every text as base64, so that nothing in it can be taken for the end of a column. */
const columns = `base64Encode(log), base64Encode(topic), base64Encode(record_id), base64Encode(key), base64Encode(value),
  base64Encode(reason), base64Encode(error), base64Encode(sluice_version), edge_seq,
  toUnixTimestamp64Milli(appended_at), toUnixTimestamp64Milli(stored_at), mark`;

const marks = "SELECT log, topic, record_id, appended_at, mark FROM click_dead_letter_marks FINAL";

/** Every filter is always there; one that is not given lets all through. */
const filtered = `stored_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND stored_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND ({reason:String} = '' OR reason = {reason:String})
  AND ({topic:String} = '' OR topic = {topic:String})
  AND (empty({ids:Array(String)}) OR has({ids:Array(String)}, concat(log, '/', topic, '/', record_id)))`;

const inState = "({state:String} = 'any' OR mark = if({state:String} = 'open', '', {state:String}))";

/** Of all letters at once, with memory for a part of each table only. */
const marked = `click_dead_letters FINAL LEFT JOIN (${marks}) AS marks USING (log, topic, record_id, appended_at)
  WHERE ${filtered} AND ${inState}`;
const inOrderOfKeys = "SETTINGS join_algorithm = 'full_sorting_merge'";

export async function selectDeadLetterCount(
  connection: Connection,
  filter: LetterFilter,
  signal: AbortSignal,
): Promise<{ letters: number; asOf: number }> {
  const [line = ""] = await connection.select(
    `SELECT count(), toUnixTimestamp64Milli(now64(3)) FROM ${marked} ${inOrderOfKeys}`,
    parametersOf(filter),
    signal,
  );
  const [letters, asOf] = line.split("\t");
  return { letters: Number(letters), asOf: Number(asOf) };
}

export async function selectLatestDeadLetters(
  connection: Connection,
  filter: LetterFilter,
  { limit, after }: { readonly limit: number; readonly after?: StoredDeadLetter },
  signal: AbortSignal,
): Promise<StoredDeadLetter[]> {
  const lines = await connection.select(
    `SELECT ${columns} FROM ${marked}
       AND (stored_at < fromUnixTimestamp64Milli({afterStoredAt:Int64}, 'UTC')
         OR stored_at = fromUnixTimestamp64Milli({afterStoredAt:Int64}, 'UTC') AND ${behind})
     ORDER BY stored_at DESC, log, topic, record_id LIMIT {limit:UInt32} ${inOrderOfKeys}`,
    { ...parametersOf(filter), ...keyParameters(after), limit, afterStoredAt: after?.storedAt ?? year2299 },
    signal,
  );
  return lines.map(toLetter);
}

/** Behind a key, said so that the table's index is of use. */
const behind = `(log > {afterLog:String}
  OR log = {afterLog:String} AND topic > {afterTopic:String}
  OR log = {afterLog:String} AND topic = {afterTopic:String} AND record_id > {afterRecordId:String})`;

/** The marks are looked up for the page alone; those of another state are left out behind that. */
export async function selectDeadLetterPage(
  connection: Connection,
  filter: LetterFilter,
  { limit, after }: { readonly limit: number; readonly after?: LetterKey },
  signal: AbortSignal,
): ReturnType<DeadLetters["page"]> {
  const lines = await connection.select(
    `WITH page AS (
       SELECT * FROM click_dead_letters FINAL WHERE ${behind} AND ${filtered}
       ORDER BY log, topic, record_id LIMIT {limit:UInt32}
     )
     SELECT ${columns} FROM page
     LEFT JOIN (${marks} WHERE (log, topic, record_id) IN (SELECT log, topic, record_id FROM page)) AS marks
       USING (log, topic, record_id, appended_at)
     ORDER BY log, topic, record_id`,
    { ...parametersOf(filter), ...keyParameters(after), limit },
    signal,
  );
  return pageOf(lines.map(toLetter), filter, limit);
}

function toLetter(line: string): StoredDeadLetter {
  const parts = line.split("\t");
  const bytes = (index: number) => Buffer.from(parts[index] ?? "", "base64");
  return {
    log: bytes(0).toString(),
    topic: bytes(1).toString(),
    recordId: bytes(2).toString(),
    key: bytes(3).toString(),
    value: bytes(4),
    reason: bytes(5).toString(),
    error: bytes(6).toString(),
    version: bytes(7).toString(),
    number: Number(parts[8]),
    appendedAt: Number(parts[9]),
    storedAt: Number(parts[10]),
    mark: toMark(parts[11] ?? ""),
  };
}

function parametersOf(filter: LetterFilter): Parameters {
  const { state, ids = [], reason = "", topic = "", from = 0, to = year2299 } = filter;
  return { state, ids, reason, topic, from: toStorableTime(from), to: toStorableTime(to) };
}

function keyParameters(key: LetterKey | undefined): Parameters {
  return { afterLog: key?.log ?? "", afterTopic: key?.topic ?? "", afterRecordId: key?.recordId ?? "" };
}

/** Begins to rewrite the parts that have any of these. */
export async function deleteLetters(
  connection: Connection,
  letters: readonly LetterKey[],
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `ALTER TABLE click_dead_letters DELETE
     WHERE has({ids:Array(String)}, concat(log, '/', topic, '/', record_id)) SETTINGS mutations_sync = 0`,
    { ids: letters.map(letterId) },
    signal,
  );
}
