import { LocalServiceError } from "@sluice/local-services/error.ts";

import { inCi } from "./config.ts";

/** No way to this service on this machine: its tests are skipped, in CI they fail. */
export class ServiceMissing extends Error {
  override readonly name = "ServiceMissing";
}

/**
 * Opens the first that can be had: a local server, else a container. Only a server whose program is not on the machine
 * is passed over: one that is there and does not start is a failure.
 */
export async function provide<T>(
  service: string,
  local: () => Promise<T>,
  container: () => Promise<T>,
): Promise<T> {
  let problem: LocalServiceError;
  try {
    return await local();
  } catch (error) {
    if (!(error instanceof LocalServiceError) || error.code !== "missing") throw error;
    problem = error;
  }
  try {
    return await container();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceMissing(`${service} cannot be had: ${problem.message}; no container either: ${why}`, {
      cause,
    });
  }
}

/** Whether the error means that tests are to be skipped. */
export function meansSkip(error: unknown): error is ServiceMissing {
  return error instanceof ServiceMissing && !inCi;
}
