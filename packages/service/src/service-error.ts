/** `config`: a person must change a setting; `address`: a port could not be taken; `ended`: returned untold. */
export type ServiceErrorCode = "config" | "address" | "ended";

/**
 * What a person can put right, said in its message; it is shown without a stack. Thrown with `config` while a
 * service starts (a data directory that is not writable, a broken file), it ends the process with
 * `configExitCode`.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;
  /** True when starting again may help without anybody changing anything. */
  readonly retryable: boolean;

  constructor(code: ServiceErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.retryable = code !== "config";
  }
}

/** EX_CONFIG of sysexits.h: the exit status that tells a supervisor not to start the service again. */
export const configExitCode = 78;
