import { ClickStoreError } from "./click-store.ts";

/** A row that the table refuses, and what it said. */
export interface Refused<R> {
  readonly row: R;
  readonly error: ClickStoreError;
}

export interface RowTable<R> {
  /** Stores all rows, or rejects with a ClickStoreError of class `row`. */
  insert(rows: readonly R[]): Promise<void>;
  /** Those of the rows that the table does not have: asked when an insert was refused after a part of it. */
  missing(rows: readonly R[]): Promise<readonly R[]>;
}

/**
 * Inserts rows and resolves to those that the table refuses, found by halving: at most two inserts for each bad
 * row and each halving of `rows`. When it resolves, all others are stored. An error that is not about a row is
 * passed on; some of the rows may be stored then.
 */
export async function insertGoodRows<R>(rows: readonly R[], table: RowTable<R>): Promise<Refused<R>[]> {
  if (rows.length === 0) return [];
  let left = rows;
  try {
    await table.insert(rows);
    return [];
  } catch (error) {
    if (!(error instanceof ClickStoreError) || error.class !== "row") throw error;
    if (error.partlyStored) left = await table.missing(rows);
    const [only, ...others] = left;
    if (only !== undefined && others.length === 0) return [{ row: only, error }];
  }
  const middle = left.length >> 1;
  return [
    ...(await insertGoodRows(left.slice(0, middle), table)),
    ...(await insertGoodRows(left.slice(middle), table)),
  ];
}
