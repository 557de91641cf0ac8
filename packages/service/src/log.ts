import { pino } from "pino";

import { maskFields } from "./mask.ts";

/**
 * What everybody is given to log with: a constant message and fields. Payloads, addresses and credentials never
 * go into fields; `error` means that a person must act. An error given as a field is logged with its causes.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Logs JSON lines to standard output, synchronously, so that the last line before an exit is not lost. Fields
 * with the name of a secret and passwords in URLs are hidden. A reader that has gone away is not an error.
 */
export function createLog(name: string, level: string): Log {
  return pino({
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    errorKey: "error",
    // `maskFields` has made plain objects of errors already.
    serializers: { error: (value: unknown) => value },
    formatters: { level: (label) => ({ level: label }), log: (fields) => maskFields(fields) },
  });
}

/** For tests and tools that have nothing to say. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
