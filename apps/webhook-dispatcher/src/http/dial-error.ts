import type { FailureCode } from "./http-client.ts";

/** There is no connection, and why. Nothing was sent. */
export class DialError extends Error {
  override readonly name = "DialError";
  readonly code: FailureCode;

  constructor(code: FailureCode, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
  }
}
