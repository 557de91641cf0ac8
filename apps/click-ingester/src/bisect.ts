import { ClickStoreError } from "@sluice/click-store/click-store.ts";

/** A row that the table refuses, and what it said. */
export interface Refused<R> {
  readonly row: R;
  readonly error: ClickStoreError;
}

/**
 * Inserts rows and resolves to those that the table refuses, found by halving: at most two inserts for each bad
 * row and each halving of `rows`. When it resolves, all others are stored. An error that is not about a row is
 * passed on; some of the rows may be stored then.
 */
export async function insertGoodRows<R>(
  rows: readonly R[],
  insert: (rows: readonly R[]) => Promise<void>,
): Promise<Refused<R>[]> {
  const [first] = rows;
  if (first === undefined) return [];
  try {
    await insert(rows);
    return [];
  } catch (error) {
    if (!(error instanceof ClickStoreError) || error.class !== "row") throw error;
    if (rows.length === 1) return [{ row: first, error }];
  }
  const middle = rows.length >> 1;
  return [
    ...(await insertGoodRows(rows.slice(0, middle), insert)),
    ...(await insertGoodRows(rows.slice(middle), insert)),
  ];
}
