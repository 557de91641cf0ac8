import { inspect } from "node:util";

import { ServiceError } from "./service-error.ts";

const hidden = "***";

// `//user:password@`, up to the last `@` before a blank: rather too much than half a password. The bound keeps the
// search linear.
const urlPassword = /(\/\/[^\s/?#:@]{0,256}:)[^\s"'<>]{0,1024}@/g;
const queryPassword =
  /([?&][\w-]{0,64}(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)=)[^&\s"'<>]*/gi;
const secretName = /(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|authorization|cookie)$/i;
// Nobody logs deeper on purpose; it also ends a circle.
const maxDepth = 5;

/** The text without the passwords of the URLs in it. */
export function maskText(text: string): string {
  return text.replaceAll(urlPassword, `$1${hidden}@`).replaceAll(queryPassword, `$1${hidden}`);
}

/** The same value with what must not be logged hidden, by name and by shape; errors become plain objects. */
export function maskValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return "…";
  if (value instanceof Error) return describeError(value, depth);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof URL) return maskText(value.href);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (Array.isArray(value)) return value.map((item: unknown) => maskValue(item, depth + 1));
  return maskFields(value, depth);
}

/** As `maskValue`, for the fields of a log line. */
export function maskFields(fields: object, depth = 0): Record<string, unknown> {
  const masked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries<unknown>({ ...fields })) {
    masked[name] = secretName.test(name) && value !== undefined ? hidden : maskValue(value, depth + 1);
  }
  return masked;
}

/** Only what is named here: drivers hang rows, statements and whole requests on their errors. */
function describeError(error: Error, depth: number): Record<string, unknown> {
  const described: Record<string, unknown> = { name: error.name, message: maskText(error.message) };
  if ("code" in error) described["code"] = maskValue(error.code, depth + 1);
  if (error.stack !== undefined && !(error instanceof ServiceError))
    described["stack"] = maskText(error.stack);
  if (error.cause !== undefined) described["cause"] = maskValue(error.cause, depth + 1);
  if (error instanceof AggregateError) described["errors"] = maskValue(error.errors, depth + 1);
  if (error instanceof SuppressedError) {
    described["error"] = maskValue(error.error, depth + 1);
    described["suppressed"] = maskValue(error.suppressed, depth + 1);
  }
  return described;
}

/** One line about anything thrown, with the causes: `write failed: connect ECONNREFUSED 127.0.0.1:9000`. */
export function errorLine(error: unknown): string {
  const said: string[] = [];
  for (let next = error; next !== undefined && said.length < 5;) {
    const words = ownWords(next);
    if (!said.some((earlier) => earlier.includes(words))) said.push(words);
    next = next instanceof Error ? next.cause : undefined;
  }
  return maskText(said.join(": "));
}

function ownWords(error: unknown): string {
  if (typeof error === "string") return error;
  if (!(error instanceof Error)) return inspect(error, { depth: 1, breakLength: Infinity });
  // Connecting to a name with two addresses fails with an AggregateError that has no message of its own.
  if (error instanceof AggregateError && error.message === "") return error.errors.map(errorLine).join(", ");
  return error.message || error.name;
}
