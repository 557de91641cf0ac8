import { randomUUID } from "node:crypto";
import type { ClickHouseSettings } from "@clickhouse/client";
import { encodeRows, type Value } from "../body.ts";
import { ClickStoreError } from "../click-store.ts";
import type { Connection } from "./connection.ts";
import { ruleOf } from "./errors.ts";
import { blameRow, failureOf, type Patience } from "../patience.ts";

/** More rows than one block may hold would be several inserts under one token. */
export const maxRows = 1_000_000;

/** Sent with every insert. */
const insertSettings = {
  // With `async_insert` the server may answer before anything is stored; newer ones turn it on by default.
  async_insert: 0,
  wait_for_async_insert: 1,
  date_time_input_format: "basic",
  // One block, whatever the body's size: a value that is refused is refused before anything is stored, and each
  // month of a batch is one part.
  max_insert_block_size: `${maxRows}`,
  min_insert_block_size_rows: `${maxRows}`,
  min_insert_block_size_bytes: `${1 << 30}`,
  // A batch has each row once; looking for repeats in it would take a tenth of the server's time.
  optimize_on_insert: 0,
  // Events reach from 2000 to 2100: a batch of strange clocks makes many parts, but is not refused.
  max_partitions_per_insert_block: "1212",
} satisfies ClickHouseSettings;

/** For tables on which a row stored twice is one row: nothing has to be known of an attempt that failed. */
const repeatableSettings = { ...insertSettings, insert_deduplicate: 0 } satisfies ClickHouseSettings;

export function deduplicatedSettings(token: string): ClickHouseSettings {
  return {
    ...insertSettings,
    insert_deduplicate: 1,
    deduplicate_blocks_in_dependent_materialized_views: 1,
    insert_deduplication_token: token,
  };
}

/** What `insertOnce` needs of a table. */
export interface Target<R> {
  /** One attempt. Resolves when it is acknowledged; rejects with a ClickStoreError or the signal's reason. */
  send(rows: readonly R[], token: string): Promise<void>;
  /** Waits until no attempt under this token is running any more, then tells which of the rows are not stored. */
  missing(rows: readonly R[], token: string): Promise<readonly R[]>;
}

/**
 * Inserts every row once, whatever happens to the attempts. A token is random and belongs to one set of rows for
 * ever. Acknowledged at the first attempt, the rows are stored. After anything else they are read back, because
 * a table that is not replicated writes the token to its log before it renames the part into place: killed in
 * between, it answers a retry under that token with OK, and has nothing. What is then missing is inserted under
 * a token of its own. (The answer's `written_rows` cannot tell: it counts the rows of a dropped repeat too.)
 */
export async function insertOnce<R>(
  rows: readonly R[],
  target: Target<R>,
  patience: Patience,
): Promise<void> {
  const pieces = [rows];
  let stored = 0;
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    const { left, smaller, refused } = await insertPiece(piece, target, patience);
    stored += piece.length - left.length;
    if (left.length === 0) continue;
    if (refused !== undefined) throw blameRow(refused, stored > 0);
    const half = smaller ? Math.ceil(left.length / 2) : left.length;
    pieces.push(...[left.slice(half), left.slice(0, half)].filter((part) => part.length > 0));
  }
}

interface Settlement<R> {
  /** What is not stored; nothing of it is under way. */
  readonly left: readonly R[];
  readonly smaller?: boolean;
  /** Why none of `left` will ever be stored together. */
  readonly refused?: ClickStoreError;
}

/** Sends the same rows under the same token until it is known which of them are stored. */
async function insertPiece<R>(
  rows: readonly R[],
  target: Target<R>,
  patience: Patience,
): Promise<Settlement<R>> {
  const token = randomUUID();
  for (let attempt = 1; ; attempt += 1) {
    const failure = await failureOf(target.send(rows, token));
    if (failure === undefined) {
      patience.restore();
      return { left: attempt === 1 ? [] : await target.missing(rows, token) };
    }
    if (patience.exhausted(failure)) {
      // A refused value is refused before anything is stored, unless an earlier attempt got further.
      return { left: attempt === 1 ? rows : await target.missing(rows, token), refused: failure };
    }
    await patience.wait(failure);
    const { over, smaller } = ruleOf(failure);
    if (over && smaller && rows.length > 1) return { left: await target.missing(rows, token), smaller };
  }
}

/** One attempt; for tables on which a row stored twice is one row. */
export async function insertRepeatable<R>(
  connection: Connection,
  query: string,
  rows: readonly R[],
  toValues: (row: R) => readonly Value[],
  signal: AbortSignal,
): Promise<void> {
  if (rows.length === 0) return;
  const id = randomUUID();
  await connection.insert(query, encodeRows(rows, toValues), { id, settings: repeatableSettings, signal });
}
