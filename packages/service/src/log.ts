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

// Some thousand lines: what is kept for a reader that does not keep up.
const maxWaitingBytes = 1024 * 1024;

/**
 * Logs JSON lines to standard output, in order and before the call returns, so that the last line before an exit is
 * not lost. A reader that stalls or has gone away costs lines (beyond a bound), never time. Fields with the name of
 * a secret, and passwords in URLs, are hidden.
 */
export function createLog(name: string, level: string): Log {
  const output = pino.destination({
    fd: 1,
    sync: true,
    maxLength: maxWaitingBytes,
    // What a full pipe did not take goes with the next line; waiting for it would stop the event loop.
    retryEAGAIN: () => false,
  });
  output.on("error", () => {});
  return pino(
    {
      name,
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      errorKey: "error",
      // `maskFields` has made plain objects of errors already.
      serializers: { error: (value: unknown) => value },
      formatters: { level: (label) => ({ level: label }), log: (fields) => maskFields(fields) },
    },
    output,
  );
}

/** For tests and tools that have nothing to say. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
