/** Big enough that a system call is nothing beside it, small enough that encoding it holds nobody up. */
const chunkChars = 65_536;

/** A value of a JSONCompactEachRow line. Maps are objects. */
export type Value = string | number | boolean | Readonly<Record<string, string>>;

/**
 * The rows as JSONCompactEachRow, one chunk at a time: the server reads while later rows are still being encoded,
 * and no more than a chunk of them is held. Unlike JSONEachRow it does not repeat the columns' names (600 bytes
 * a click, not 1,000), which halves what both sides spend on it.
 */
export function* encodeRows<R>(
  rows: readonly R[],
  toValues: (row: R) => readonly Value[],
): Generator<Buffer> {
  let first = 0;
  let chunk = "";
  for (const [index, row] of rows.entries()) {
    chunk += JSON.stringify(toValues(row)) + "\n";
    if (chunk.length < chunkChars && index < rows.length - 1) continue;
    // A surrogate without its other half is written as an escape that ClickHouse refuses (code 25).
    yield Buffer.from(chunk.includes("\\ud") ? wellFormed(rows.slice(first, index + 1), toValues) : chunk);
    first = index + 1;
    chunk = "";
  }
}

function wellFormed<R>(rows: readonly R[], toValues: (row: R) => readonly Value[]): string {
  return rows.map((row) => JSON.stringify(toValues(row), repair) + "\n").join("");
}

function repair(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
