import type { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";

import { type Body, readBody } from "./body.ts";
import type { Engine } from "./engine.ts";
import type { InsertList } from "./insert-list.ts";
import type { Parameters } from "./parameters.ts";
import type { Slots } from "./slots.ts";
import { writeChunks } from "./spool.ts";
import { maxStatementBytes, readStatement, StatementError } from "./statement.ts";

export interface Resources {
  readonly engine: Engine;
  readonly inserts: InsertList;
  readonly slots: Slots;
  /** The longest `max_execution_time` that a SELECT gets, and what it gets without asking. */
  readonly maxQuerySeconds: number;
  /** The same for everything else. */
  readonly maxWriteSeconds: number;
  /** What the rows of an INSERT, or a result, may come to: they pass through the disk. */
  readonly maxFileBytes: number;
}

/** What a statement gave; it has ended, well. */
export interface Answer {
  readonly format: string;
  /** The result itself, or where it is when it may be large: in the request's file. */
  readonly result: Uint8Array | "in file";
  readonly readRows: number;
  readonly readBytes: number;
  readonly writtenRows: number;
  readonly writtenBytes: number;
  readonly elapsedSeconds: number;
}

/**
 * Runs a request's statement to its end. `path` is a file of this request alone, for its rows or its result. Rejects
 * with a StatementError, SlotsFull or the engine's error.
 */
export async function execute(
  resources: Resources,
  request: IncomingMessage,
  parameters: Parameters,
  path: string,
): Promise<Answer> {
  const body = await readBody(request, maxStatementBytes);
  // As ClickHouse has it: the body goes on where the URL's `query` ends, after a line break.
  const prefix = body.head.length === 0 ? parameters.query : `${parameters.query}\n`;
  const text = parameters.query === "" ? body.head : Buffer.concat([Buffer.from(prefix), body.head]);
  const statement = readStatement(text);
  const settings = new Map(parameters.settings);
  const isInsert = statement.kind === "insert";
  if (isInsert) {
    if (request.method !== "POST") throw new StatementError(164, "READONLY", onlyPostWrites);
    // Before its turn comes: a slow sender must not hold up others.
    await writeChunks(path, rows(text.subarray(statement.dataAt), body), resources.maxFileBytes);
    // Parsing in parallel costs a sixth more time on one core than it saves on another.
    setDefault(settings, "input_format_parallel_parsing", "0");
  } else if (body.more || text.length > maxStatementBytes) {
    throw new StatementError(62, "SYNTAX_ERROR", `Max query size exceeded (${maxStatementBytes} bytes)`);
  }
  const { maxQuerySeconds, maxWriteSeconds, maxFileBytes } = resources;
  limit(settings, "max_execution_time", statement.kind === "select" ? maxQuerySeconds : maxWriteSeconds);
  limit(settings, "max_result_bytes", maxFileBytes);
  // 2 is what ClickHouse itself sets for GET: nothing can be written, but settings may be chosen.
  if (request.method !== "POST") settings.set("readonly", "2");
  const { bytes, rowCount, rowBytes, elapsedSeconds } = await resources.slots.run(async () => {
    using _ = isInsert ? resources.inserts.add(path) : undefined;
    if (!isInsert && readsList.test(text.toString())) await resources.inserts.complete();
    return await resources.engine.run({
      text: statement.toRun(path, parameters.format),
      database: parameters.database,
      settings,
      format: parameters.format,
      ...(isInsert && { lastly: () => checkSender(request) }),
    });
  });
  return {
    format: statement.format ?? parameters.format,
    result: statement.kind === "select" ? "in file" : bytes,
    readRows: rowCount,
    readBytes: rowBytes,
    writtenRows: isInsert ? rowCount : 0,
    writtenBytes: isInsert ? rowBytes : 0,
    elapsedSeconds,
  };
}

/** ClickHouse lists an insert before it reads its rows, so whoever looks may rely on the list: here they wait for it. */
const readsList = /\bsystem\s*\.\s*`?processes\b|\bPROCESSLIST\b/i;

/**
 * An insert is on the list of `system.processes` only while it runs, and what is on no list cannot be waited for. One
 * that waited for its turn, or for a frozen process, and whose sender has died meanwhile would run after somebody else
 * had looked for what it stores, and sent that again.
 */
async function checkSender({ socket }: IncomingMessage): Promise<void> {
  // The end of a connection lies behind the last bytes of the body: it is read a turn after them.
  await nextTurn();
  await nextTurn();
  if (socket.readableEnded || socket.destroyed) throw new Error("the sender has gone");
}

const onlyPostWrites =
  "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. " +
  "You should use method POST for modifying queries";

async function* rows(beginning: Buffer, body: Body): AsyncGenerator<Buffer> {
  yield beginning;
  yield* body.rest;
}

function setDefault(settings: Map<string, string>, name: string, value: string): void {
  if (!settings.has(name)) settings.set(name, value);
}

/** For settings whose 0 means "no limit". */
function limit(settings: Map<string, string>, name: string, most: number): void {
  const asked = Number(settings.get(name));
  settings.set(name, `${asked > 0 ? Math.min(asked, most) : most}`);
}
