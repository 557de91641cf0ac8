import type { Query } from "../postgres.ts";
import { listUnderOtherKeys, placeOf, replaceSealed, type TargetRow } from "../queries/targets.ts";
import { type Keyring, UnreadableSecret } from "./keyring.ts";
import type { Reencrypted } from "./target-store.ts";

/** Rows of a few KiB each. */
const pageSize = 500;
const columns = ["headers", "secret", "old_secret", "settings"] as const;

/** A row that somebody writes meanwhile is left to them: they write under the first key of their list. */
export async function reencryptAll(query: Query, keys: Keyring): Promise<Reencrypted> {
  let changed = 0;
  let unreadable = 0;
  for (const prefix of ["ep", "in"] as const) {
    for (let afterId = 0; ;) {
      const page = await listUnderOtherKeys(query, prefix, afterId, { key: keys.current, limit: pageSize });
      for (const row of page) {
        const sealed = { ...row };
        for (const column of columns) {
          const value = reseal(keys, row, column);
          if (value === "unreadable") unreadable += 1;
          else sealed[column] = value;
        }
        const anew = columns.filter((column) => sealed[column] !== row[column]).length;
        if (anew > 0 && (await replaceSealed(query, row, sealed))) changed += anew;
      }
      if (page.length < pageSize) break;
      afterId = page.at(-1)?.id ?? afterId;
    }
  }
  return { changed, unreadable };
}

function reseal(
  keys: Keyring,
  row: TargetRow,
  column: (typeof columns)[number],
): Buffer | null | "unreadable" {
  const value = row[column];
  if (value === null || value.subarray(0, keys.current.length).equals(keys.current)) return value;
  const place = placeOf(row.prefix, row.id, row.workspace_id, column === "old_secret" ? "secret" : column);
  try {
    return keys.encrypt(keys.decrypt(value, place), place);
  } catch (error) {
    if (error instanceof UnreadableSecret) return "unreadable";
    throw error;
  }
}
