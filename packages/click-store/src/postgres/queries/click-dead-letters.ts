import type { DeadLetter } from "../../click-store.ts";
import {
  type DeadLetters,
  type LetterFilter,
  type LetterKey,
  pageOf,
  type StoredDeadLetter,
  toMark,
  toStorableTime,
  year2299,
} from "../../dead-letters.ts";
import type { Connection } from "../connection.ts";
import { toStorable } from "../copy-text.ts";
import { toNumber } from "./to-number.ts";

export async function insertDeadLetters(
  connection: Connection,
  letters: readonly DeadLetter[],
  signal: AbortSignal,
): Promise<void> {
  const once = onceEach(letters);
  const texts = (of: (letter: DeadLetter) => string) => once.map((letter) => toStorable(of(letter)));
  await connection.query(
    `INSERT INTO click_dead_letters
       (log, topic, record_id, appended_at, key, value, reason, error, sluice_version, edge_seq)
     SELECT log, topic, record_id, to_timestamp(ms / 1000), key, value, reason, error, sluice_version, edge_seq
     FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::text[], $6::bytea[], $7::text[], $8::text[],
       $9::text[], $10::bigint[])
       AS given (log, topic, record_id, ms, key, value, reason, error, sluice_version, edge_seq)
     ON CONFLICT (log, topic, record_id) DO UPDATE SET appended_at = excluded.appended_at, key = excluded.key,
       value = excluded.value, reason = excluded.reason, error = excluded.error,
       sluice_version = excluded.sluice_version, edge_seq = excluded.edge_seq, stored_at = excluded.stored_at`,
    [
      texts(({ log }) => log),
      texts(({ topic }) => topic),
      texts(({ recordId }) => recordId),
      once.map(({ appendedAt }) => toStorableTime(appendedAt)),
      texts(({ key }) => key),
      once.map(({ value }) => Buffer.from(value)),
      texts(({ reason }) => reason),
      texts(({ error }) => error),
      texts(({ version }) => version),
      once.map(({ number }) => number),
    ],
    signal,
  );
}

/** The later one of a letter that comes twice: one statement may change a row only once. */
function onceEach(letters: readonly DeadLetter[]): DeadLetter[] {
  return [...new Map(letters.map((letter) => [identityOf(letter), letter])).values()];
}

function identityOf({ log, topic, recordId }: DeadLetter): string {
  return JSON.stringify([log, topic, recordId].map(toStorable));
}

const columns = `log, topic, record_id, key, encode(value, 'base64'), reason, error, sluice_version, edge_seq,
  (extract(epoch FROM appended_at) * 1000)::bigint, (extract(epoch FROM stored_at) * 1000)::bigint, coalesce(mark, '')`;

const marked =
  "click_dead_letters LEFT JOIN click_dead_letter_marks USING (log, topic, record_id, appended_at)";

/** Every filter is always there; one that is not given lets all through. */
const filtered = `stored_at >= to_timestamp($1::float8 / 1000) AND stored_at < to_timestamp($2::float8 / 1000)
  AND ($3 = '' OR reason = $3) AND ($4 = '' OR topic = $4)
  AND ($5::text[] = '{}' OR concat(log, '/', topic, '/', record_id) = ANY($5))`;

const inState = "($6 = 'any' OR coalesce(mark, 'open') = $6)";

function parametersOf({ ids = [], reason = "", topic = "", from = 0, to = year2299 }: LetterFilter) {
  return [toStorableTime(from), toStorableTime(to), reason, topic, ids] as const;
}

export async function selectDeadLetterCount(
  connection: Connection,
  filter: LetterFilter,
  signal: AbortSignal,
): Promise<{ letters: number; asOf: number }> {
  const [row = []] = await connection.query(
    `SELECT count(*), (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM ${marked}
     WHERE ${filtered} AND ${inState}`,
    [...parametersOf(filter), filter.state],
    signal,
  );
  return { letters: toNumber(row[0]), asOf: toNumber(row[1]) };
}

export async function selectLatestDeadLetters(
  connection: Connection,
  filter: LetterFilter,
  { limit, after }: { readonly limit: number; readonly after?: StoredDeadLetter },
  signal: AbortSignal,
): Promise<StoredDeadLetter[]> {
  const rows = await connection.query(
    `SELECT ${columns} FROM ${marked}
     WHERE ${filtered} AND ${inState} AND stored_at <= to_timestamp($8::float8 / 1000)
       AND (stored_at < to_timestamp($8::float8 / 1000) OR (log, topic, record_id) > ($9, $10, $11))
     ORDER BY stored_at DESC, log, topic, record_id LIMIT $7`,
    [...parametersOf(filter), filter.state, limit, after?.storedAt ?? year2299, ...keyOf(after)],
    signal,
  );
  return rows.map(toLetter);
}

export async function selectDeadLetterPage(
  connection: Connection,
  filter: LetterFilter,
  { limit, after }: { readonly limit: number; readonly after?: LetterKey },
  signal: AbortSignal,
): ReturnType<DeadLetters["page"]> {
  const rows = await connection.query(
    `SELECT ${columns} FROM ${marked}
     WHERE ${filtered} AND (log, topic, record_id) > ($7, $8, $9)
     ORDER BY log, topic, record_id LIMIT $6`,
    [...parametersOf(filter), limit, ...keyOf(after)],
    signal,
  );
  return pageOf(rows.map(toLetter), filter, limit);
}

function toLetter(row: string[]): StoredDeadLetter {
  const [log = "", topic = "", recordId = "", key = "", value = "", ...rest] = row;
  const [reason = "", error = "", version = "", number, appendedAt, storedAt, mark = ""] = rest;
  return {
    log,
    topic,
    recordId,
    key,
    reason,
    error,
    version,
    value: Buffer.from(value, "base64"),
    number: toNumber(number),
    appendedAt: toNumber(appendedAt),
    storedAt: toNumber(storedAt),
    mark: toMark(mark),
  };
}

function keyOf(key: LetterKey | undefined): [log: string, topic: string, recordId: string] {
  return [key?.log ?? "", key?.topic ?? "", key?.recordId ?? ""];
}

export async function deleteLetters(
  connection: Connection,
  letters: readonly LetterKey[],
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    `DELETE FROM click_dead_letters
     WHERE (log, topic, record_id) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
    [
      letters.map(({ log }) => log),
      letters.map(({ topic }) => topic),
      letters.map(({ recordId }) => recordId),
    ],
    signal,
  );
}
