import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import { openDeadLetters } from "@sluice/click-store/dead-letters.ts";
import { eraseDue } from "@sluice/click-store/erase.ts";
import type { Erasures } from "@sluice/click-store/erasures.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { sleep } from "@sluice/service/retry.ts";
import type { Service } from "@sluice/service/run-service.ts";
import type { Config } from "../config.ts";
import { erasureMetrics } from "./metrics.ts";

/**
 * Keeps retention and finishes erasures that nobody finished, again and again, until told to stop. A store that is away
 * is waited for. One process is enough, and several do no harm.
 */
export async function keepErased(service: Service<Config>, erasures: Erasures): Promise<void> {
  const { config, log, resources, signal } = service;
  const metrics = erasureMetrics(service.metrics);
  const letters = resources.use(await openDeadLetters(config.CLICK_STORE_URL));
  const outage = createOutage(
    log,
    { what: "erasure" },
    { failing: "what has to be erased is not erased", over: "what has to be erased is erased again" },
  );
  while (!signal.aborted) {
    try {
      const { clicks, letters: lettersGone, pending } = await eraseDue(erasures, letters, { signal });
      metrics.done({ clicks, letters: lettersGone, pending });
      if (clicks + lettersGone > 0) log.info({ clicks, letters: lettersGone }, "erased");
      outage.over();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ClickStoreError)) throw error;
      metrics.failed();
      outage.failing(error);
    }
    await sleep(config.ERASE_EVERY_MS, signal).catch(() => {});
  }
}
