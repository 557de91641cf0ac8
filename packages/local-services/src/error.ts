/**
 * Why a local server cannot be had.
 * - `missing`: a program it needs is not on this machine
 * - `data-dir`: the directory cannot be written, or holds something else or a version that this one cannot read
 * - `in-use`: a server of a living supervisor is on the directory
 * - `port`: the port is taken
 * - `start`: it was started and did not become ready
 */
export type LocalServiceCode = "missing" | "data-dir" | "in-use" | "port" | "start";

/** The only error that leaves this package on purpose. */
export class LocalServiceError extends Error {
  override readonly name = "LocalServiceError";
  readonly code: LocalServiceCode;

  constructor(code: LocalServiceCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}
