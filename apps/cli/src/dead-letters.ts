import {
  listDeadLetters as readDeadLetters,
  type StoredDeadLetter,
} from "@sluice/click-store/dead-letters.ts";

import type { Context } from "./context.ts";

/** Two round trips of a slow network; a store that takes longer has other worries. */
const timeoutMs = 15_000;

export async function listDeadLetters(
  { addresses, print }: Context,
  { limit, json }: { readonly limit: number; readonly json?: boolean },
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const letters = await readDeadLetters(await addresses.clickStoreUrl(), { limit, signal });
  for (const letter of letters) print(json ? toJson(letter) : toLine(letter));
}

function toJson({ value, ...letter }: StoredDeadLetter): string {
  return JSON.stringify({ ...letter, value: Buffer.from(value).toString("base64") });
}

function toLine({ storedAt, log, topic, recordId, reason, error, value }: StoredDeadLetter): string {
  const stored = new Date(storedAt).toISOString();
  return `${stored}  ${log} ${topic} ${recordId}  ${value.length} bytes  ${reason}: ${error}`;
}
