import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import type { Log } from "@sluice/service/log.ts";

import { type Answer, execute, type Resources } from "./execute.ts";
import { type Failure, failure, failureFromEngine } from "./failure.ts";
import { readParameters } from "./parameters.ts";
import { SlotsFull } from "./slots.ts";
import type { Spool } from "./spool.ts";
import { StatementError } from "./statement.ts";

/** Answers ClickHouse's HTTP interface, as far as its clients, curl and Grafana use it. */
export function createHandler(resources: Resources, spool: Spool, log: Log): RequestListener {
  return (request, response) => {
    // A rejection here is a bug in the handling of errors: let it end the process.
    answer(request, response).catch((error: unknown) =>
      process.nextTick(() => {
        throw error;
      }),
    );
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = URL.parse(`http://localhost${request.url}`);
      const ping =
        url?.pathname === "/ping" || (url?.pathname === "/" && url.search === "" && request.method === "GET");
      if (ping) sendText(response, 200, "Ok.\n");
      else if (url?.pathname !== "/") sendText(response, 404, `There is no handle ${request.url}\n`);
      else if (!methods.has(request.method ?? ""))
        sendText(response, 405, "GET, HEAD and POST are understood\n");
      else if (isForeignPage(request))
        sendText(response, 403, "Requests from pages of other sites are refused\n");
      else await query(url, request, response);
    } catch (error) {
      // The other side has gone; what ran for it has ended.
      if (response.destroyed || request.errored !== null) return;
      if (response.headersSent) {
        log.warn({ error: String(error) }, "answer broken off");
        response.destroy();
      } else sendFailure(response, failureOf(error));
    }
  }

  async function query(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parameters = readParameters(url, request.headers);
    response.setHeader("X-ClickHouse-Query-Id", parameters.queryId ?? randomUUID());
    await using file = spool.create();
    const done = await execute(resources, request, parameters, file.path);
    response.setHeader("Content-Type", contentTypes.get(done.format) ?? "text/plain; charset=UTF-8");
    response.setHeader("X-ClickHouse-Format", done.format);
    response.setHeader("X-ClickHouse-Summary", summary(done));
    response.setHeader("X-ClickHouse-Timezone", timeZone);
    await sendResult(response, done.result === "in file" ? file.path : done.result, parameters.compressed);
  }
}

/** The engine takes the process's, too. */
const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const methods = new Set(["GET", "HEAD", "POST"]);

/**
 * A page of any site can make a browser send requests to the loopback interface, under the address or, with a name of
 * its own that leads here, as if it were this server's own page. Browsers say where a request comes from; programs do
 * not.
 */
function isForeignPage({ headers, socket }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  if (site === undefined) return false;
  const isLocal = socket.localAddress === "127.0.0.1" || socket.localAddress === "::1";
  const isLocalName = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? "");
  return site === "cross-site" || site === "same-site" || (isLocal && !isLocalName);
}

/** Up to here a result is sent in one piece, with its length. */
const maxWholeBytes = 1_048_576;

async function sendResult(
  response: ServerResponse,
  result: string | Uint8Array,
  compressed: boolean,
): Promise<void> {
  const path = typeof result === "string" ? result : undefined;
  const bytes = typeof result === "string" ? (await stat(result)).size : result.length;
  if (!compressed && bytes <= maxWholeBytes) {
    response.end(path === undefined ? result : await readFile(path));
    return;
  }
  const source = path === undefined ? Readable.from([result]) : createReadStream(path);
  if (!compressed) {
    response.setHeader("Content-Length", bytes);
    await pipeline(source, response);
    return;
  }
  response.setHeader("Content-Encoding", "gzip");
  // The fastest level: the other side is on the same machine, or near.
  await pipeline(source, createGzip({ level: 1 }), response);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=UTF-8" }).end(text);
}

function sendFailure(response: ServerResponse, { code, status, text }: Failure): void {
  response.setHeader("X-ClickHouse-Exception-Code", code);
  sendText(response, status, `${text}\n`);
}

function failureOf(error: unknown): Failure {
  if (error instanceof StatementError) return failure(error.code, error.type, error.message);
  if (error instanceof SlotsFull)
    return failure(202, "TOO_MANY_SIMULTANEOUS_QUERIES", `Too many queries: ${error.message}`);
  const isNoSpace = error instanceof Error && "code" in error && error.code === "ENOSPC";
  if (isNoSpace) return failure(243, "NOT_ENOUGH_SPACE", "No space left on the disk");
  return failureFromEngine(error instanceof Error ? error.message : String(error));
}

function summary(done: Answer): string {
  return JSON.stringify({
    read_rows: `${done.readRows}`,
    read_bytes: `${done.readBytes}`,
    written_rows: `${done.writtenRows}`,
    written_bytes: `${done.writtenBytes}`,
    total_rows_to_read: "0",
    result_rows: `${done.writtenRows}`,
    result_bytes: `${done.writtenBytes}`,
    elapsed_ns: `${Math.round(done.elapsedSeconds * 1e9)}`,
  });
}

/** ClickHouse's own, for the formats that programs ask for. */
const contentTypes = new Map([
  ["JSON", "application/json; charset=UTF-8"],
  ["JSONCompact", "application/json; charset=UTF-8"],
  ["JSONEachRow", "application/x-ndjson; charset=UTF-8"],
  ["TabSeparated", "text/tab-separated-values; charset=UTF-8"],
  ["TabSeparatedWithNames", "text/tab-separated-values; charset=UTF-8; header=present"],
  ["CSV", "text/csv; charset=UTF-8; header=absent"],
  ["CSVWithNames", "text/csv; charset=UTF-8; header=present"],
  ["RowBinary", "application/octet-stream"],
  ["RowBinaryWithNamesAndTypes", "application/octet-stream"],
  ["Native", "application/octet-stream"],
  ["Parquet", "application/octet-stream"],
  ["ArrowStream", "application/octet-stream"],
]);
