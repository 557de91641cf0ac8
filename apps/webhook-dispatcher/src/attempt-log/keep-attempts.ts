import type { AttemptLog } from "@sluice/click-store/attempts.ts";
import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { sleep } from "@sluice/service/retry.ts";

const everyMs = 3_600_000;
/** After a failure: the table has room for the coming day, so there is time. */
const retryMs = 60_000;

/** Has the delivery log's table kept up until the signal aborts. While the store is away attempts wait, and are dropped. */
export async function keepAttempts(
  attempts: Pick<AttemptLog, "keep">,
  health: Pick<Health, "degraded">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let againMs = everyMs;
    try {
      await attempts.keep(Date.now(), signal);
      health.degraded("attempt-log", undefined);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ClickStoreError)) throw error;
      health.degraded("attempt-log", `attempts cannot be logged: ${errorLine(error)}`);
      againMs = retryMs;
    }
    await sleep(againMs, signal).catch(() => {});
  }
}
