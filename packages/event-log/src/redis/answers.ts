import type { LogRecord } from "../event-log.ts";

// What Redis answers, as it comes off the wire, made into what we work with. A form that Redis does not have is a bug.

/** Beside key and value, about what a record costs in memory. */
const overheadBytes = 200;

/** A record as it was read. */
export interface Entry extends LogRecord {
  readonly heldBytes: number;
}

/** Entries in the order of the answer; `deleted` are those whose bodies are gone. */
export interface Entries {
  readonly entries: readonly Entry[];
  readonly deleted: readonly string[];
}

export function listOf(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) throw new TypeError("redis: a list was expected");
  return answer;
}

export function textOf(answer: unknown): string {
  if (Buffer.isBuffer(answer)) return answer.toString();
  if (typeof answer === "string") return answer;
  throw new TypeError("redis: a text was expected");
}

export function numberOf(answer: unknown): number {
  if (typeof answer !== "number") throw new TypeError("redis: a number was expected");
  return answer;
}

/** XREADGROUP of one stream; undefined when there was nothing. */
export function entriesRead(answer: unknown): Entries | undefined {
  if (answer === null) return undefined;
  const [stream] = listOf(answer);
  return entriesOf(listOf(listOf(stream)[1]));
}

/** XAUTOCLAIM: where to go on, "0-0" at the end, and what was claimed. */
export function entriesClaimed(answer: unknown): Entries & { readonly next: string } {
  const [next, claimed, deleted] = listOf(answer);
  const found = entriesOf(listOf(claimed));
  return {
    next: textOf(next),
    entries: found.entries,
    deleted: [...found.deleted, ...listOf(deleted).map(textOf)],
  };
}

/** XINFO's way of listing names and values. */
export function fieldsOf(answer: unknown): ReadonlyMap<string, unknown> {
  const list = listOf(answer);
  const fields = new Map<string, unknown>();
  for (let index = 0; index < list.length; index += 2) fields.set(textOf(list[index]), list[index + 1]);
  return fields;
}

/** `INFO`: lines of `name:value`. */
export function infoOf(answer: unknown): ReadonlyMap<string, string> {
  return new Map(
    textOf(answer)
      .split("\r\n")
      .map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon), line.slice(colon + 1)];
      }),
  );
}

/** When an entry was added, in ms since 1970 by the server's clock. */
export function timeOf(id: string): number {
  return Number(id.slice(0, id.indexOf("-")));
}

/** Whether the first was added before the second. */
export function isBefore(first: string, second: string): boolean {
  const difference = timeOf(first) - timeOf(second);
  return difference < 0 || (difference === 0 && sequenceOf(first) < sequenceOf(second));
}

function sequenceOf(id: string): number {
  return Number(id.slice(id.indexOf("-") + 1));
}

function entriesOf(list: readonly unknown[]): Entries {
  const entries: Entry[] = [];
  const deleted: string[] = [];
  // Records mostly come in runs of one key.
  let last: { readonly bytes: Buffer; readonly text: string } = { bytes: Buffer.alloc(0), text: "" };
  for (const item of list) {
    const [entryId, body] = listOf(item);
    const id = textOf(entryId);
    if (body === null) {
      deleted.push(id);
      continue;
    }
    const { key, value } = fieldsOfEntry(listOf(body));
    if (!last.bytes.equals(key)) last = { bytes: key, text: key.toString() };
    const heldBytes = key.length + value.length + overheadBytes;
    entries.push({ id, key: last.text, value, appendedAt: timeOf(id), heldBytes });
  }
  return { entries, deleted };
}

/** A body is `k`, the key, `v`, the value. */
function fieldsOfEntry([, key, , value]: readonly unknown[]): { key: Buffer; value: Buffer } {
  if (!Buffer.isBuffer(key) || !Buffer.isBuffer(value)) throw new TypeError("redis: not an entry of ours");
  return { key, value };
}
