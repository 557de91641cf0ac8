import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { patiently } from "@sluice/service/retry.ts";
import { EventLogError } from "./event-log.ts";

export interface Persistence {
  /** What it is, in `degraded`, and what cannot be done while the log fails. */
  readonly name: string;
  readonly failing: string;
  readonly health: Pick<Health, "degraded">;
  readonly signal: AbortSignal;
}

/** Opens a reader and reads on, again after the event log has failed, until the signal aborts. */
export async function persistently(
  readOn: () => Promise<void>,
  { name, failing, health, signal }: Persistence,
): Promise<void> {
  const waitOn = (error: unknown) => {
    if (!(error instanceof EventLogError)) return false;
    health.degraded(name, `${failing}: ${errorLine(error)}`);
    return true;
  };
  try {
    await patiently(readOn, { signal, waitOn });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
