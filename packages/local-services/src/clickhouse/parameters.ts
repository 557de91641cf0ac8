import type { IncomingHttpHeaders } from "node:http";

import { StatementError } from "./statement.ts";

/** What a request says beside its statement, in the URL and the headers. */
export interface Parameters {
  /** The statement, or its beginning: the body goes on after a line break. */
  readonly query: string;
  readonly queryId: string | undefined;
  readonly database: string | undefined;
  readonly format: string;
  readonly compressed: boolean;
  /** For the engine: settings, and query parameters as `param_x`. */
  readonly settings: Map<string, string>;
}

/** Reads them; throws a StatementError for what this server does not do, rather than doing something else. */
export function readParameters(url: URL, headers: IncomingHttpHeaders): Parameters {
  const given = new Map(url.searchParams);
  const take = (name: string): string | undefined => {
    const value = given.get(name);
    given.delete(name);
    return value === "" ? undefined : value;
  };
  const query = take("query") ?? "";
  const queryId = take("query_id");
  const database = take("database") ?? header(headers["x-clickhouse-database"]);
  const format = take("default_format") ?? header(headers["x-clickhouse-format"]) ?? "TabSeparated";
  const compressed =
    take("enable_http_compression") === "1" && /\bgzip\b/.test(header(headers["accept-encoding"]) ?? "");
  for (const name of unsupported) {
    const value = take(name);
    if (value !== undefined && value !== "0") {
      throw new StatementError(
        48,
        "NOT_IMPLEMENTED",
        `The parameter ${name} is not supported by this server`,
      );
    }
  }
  if (header(headers["content-type"])?.startsWith("multipart/") === true) {
    throw new StatementError(48, "NOT_IMPLEMENTED", "Multipart requests are not supported by this server");
  }
  if (queryId !== undefined && !/^[\x20-\x7e]+$/.test(queryId)) {
    throw new StatementError(36, "BAD_ARGUMENTS", "A query_id is plain ASCII text");
  }
  if (!word.test(format)) throw new StatementError(73, "UNKNOWN_FORMAT", `Unknown format ${format}`);
  const settings = new Map<string, string>();
  for (const [name, value] of given) {
    if (ofTheConnection.has(name) || name.startsWith("http_")) continue;
    if (!word.test(name)) throw new StatementError(115, "UNKNOWN_SETTING", `Unknown setting '${name}'`);
    settings.set(name, value);
  }
  return { query, queryId, database, format, compressed, settings };
}

const word = /^[A-Za-z_]\w*$/;

/** Sessions and the native protocol's own compression. */
const unsupported = ["session_id", "compress", "decompress"];

/** They govern how a real server talks; every answer here is complete before its first byte leaves. */
const ofTheConnection = new Set([
  "wait_end_of_query",
  "buffer_size",
  "send_progress_in_http_headers",
  "session_timeout",
  "session_check",
  "stacktrace",
  // Whoever reaches the port is let in, as with a fresh ClickHouse: it listens on the loopback interface.
  "user",
  "password",
  "quota_key",
]);

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
