import {
  letterId,
  type LetterFilter,
  openDeadLetters,
  type StoredDeadLetter,
} from "@sluice/click-store/dead-letters.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";

export interface Listing {
  readonly limit: number;
  readonly json?: boolean;
}

/** So many of the largest that a log takes are a hundred megabytes. */
const pageSize = 100;

export async function listDeadLetters(
  { addresses, print }: Context,
  filter: LetterFilter,
  { limit, json }: Listing,
): Promise<void> {
  await using letters = await openDeadLetters(await addresses.clickStoreUrl());
  let after: StoredDeadLetter | undefined;
  for (let left = limit; left > 0; left -= pageSize) {
    const size = Math.min(left, pageSize);
    const page = await letters.latest(filter, { limit: size, ...(after && { after }) });
    for (const letter of page) print(json ? toJson(letter) : toLine(letter));
    after = page.at(-1);
    if (page.length < size) return;
  }
}

export async function showDeadLetter({ addresses, print }: Context, id: string): Promise<void> {
  await using letters = await openDeadLetters(await addresses.clickStoreUrl());
  const [letter] = await letters.latest({ state: "any", ids: [id] }, { limit: 1 });
  if (letter === undefined) throw new ServiceError("config", `there is no dead letter ${id}`);
  const { reason, error, version, key, number, appendedAt, storedAt, mark = "open" } = letter;
  const fields = {
    id,
    state: mark,
    reason,
    error,
    stored: new Date(storedAt).toISOString(),
    by: version === "" ? "a Sluice that did not say its version" : `Sluice ${version}`,
    appended: new Date(appendedAt).toISOString(),
    key,
    number: number === 0 ? "not to be told" : number,
    bytes: letter.value.length,
  };
  for (const [name, value] of Object.entries(fields)) print(`${name.padEnd(8)}  ${value}`);
  print(`\n${textOf(letter.value)}`);
}

/** As it is, if it is text without what a terminal might obey; else as base64. */
function textOf(value: Uint8Array): string {
  const bytes = Buffer.from(value);
  const text = bytes.toString();
  const isPlain = Buffer.from(text).equals(bytes) && !/[^\P{Cc}\n\t]/u.test(text);
  return isPlain ? text : `base64:${bytes.toString("base64")}`;
}

function toJson({ value, ...letter }: StoredDeadLetter): string {
  return JSON.stringify({ id: letterId(letter), ...letter, value: Buffer.from(value).toString("base64") });
}

function toLine(letter: StoredDeadLetter): string {
  const { storedAt, reason, error, value, mark } = letter;
  const stored = new Date(storedAt).toISOString();
  const state = mark === undefined ? "" : `  (${mark})`;
  return `${stored}  ${letterId(letter)}  ${value.length} bytes  ${reason}: ${error}${state}`;
}
