import type { IncomingMessage } from "node:http";

import { type Body, readBody } from "./body.ts";
import type { Engine } from "./engine.ts";
import type { Parameters } from "./parameters.ts";
import type { Slots } from "./slots.ts";
import { writeChunks } from "./spool.ts";
import { maxStatementBytes, readStatement, StatementError } from "./statement.ts";

export interface Resources {
  readonly engine: Engine;
  readonly slots: Slots;
  /** The longest `max_execution_time` that a request gets, and what it gets without asking. */
  readonly maxQuerySeconds: number;
  readonly maxInsertSeconds: number;
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
  const isWrite = statement.kind === "insert";
  if (isWrite) {
    if (request.method !== "POST") throw new StatementError(164, "READONLY", onlyPostWrites);
    // Before the turn is taken: a slow sender must not hold it.
    await writeChunks(path, rows(text.subarray(statement.dataAt), body));
  } else if (body.more || text.length > maxStatementBytes) {
    throw new StatementError(62, "SYNTAX_ERROR", `Max query size exceeded (${maxStatementBytes} bytes)`);
  }
  const settings = limitTime(
    parameters.settings,
    isWrite ? resources.maxInsertSeconds : resources.maxQuerySeconds,
  );
  // Costs a sixth more time on one core than it saves on another.
  if (isWrite && !settings.has("input_format_parallel_parsing"))
    settings.set("input_format_parallel_parsing", "0");
  // 2 is what ClickHouse itself sets for GET: nothing can be written, but settings may be chosen.
  if (request.method !== "POST") settings.set("readonly", "2");
  const { bytes, rowCount, rowBytes, elapsedSeconds } = await resources.slots.run(() =>
    resources.engine.run({
      text: statement.toRun(path, parameters.format),
      database: parameters.database,
      settings,
      format: parameters.format,
    }),
  );
  return {
    format: statement.format ?? parameters.format,
    result: statement.kind === "select" ? "in file" : bytes,
    readRows: rowCount,
    readBytes: rowBytes,
    writtenRows: isWrite ? rowCount : 0,
    writtenBytes: isWrite ? rowBytes : 0,
    elapsedSeconds,
  };
}

const onlyPostWrites =
  "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. " +
  "You should use method POST for modifying queries";

async function* rows(beginning: Buffer, body: Body): AsyncGenerator<Buffer> {
  yield beginning;
  yield* body.rest;
}

function limitTime(settings: ReadonlyMap<string, string>, maxSeconds: number): Map<string, string> {
  const asked = Number(settings.get("max_execution_time"));
  const seconds = asked > 0 ? Math.min(asked, maxSeconds) : maxSeconds;
  return new Map(settings).set("max_execution_time", `${seconds}`);
}
