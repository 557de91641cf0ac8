import { pino } from "pino";

/**
 * What everybody is given to log with: a constant message and fields. Payloads, addresses and credentials never
 * go into fields; `error` means that a person must act.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Logs JSON lines to standard output. */
export function createLog(name: string, level: string): Log {
  return pino({ name, level });
}

/** For tests and tools that have nothing to say. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
