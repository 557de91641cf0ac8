import { openDeadLetters } from "@sluice/click-store/dead-letters.ts";
import { eraseDue } from "@sluice/click-store/erase.ts";
import type { Erasures } from "@sluice/click-store/erasures.ts";
import type { Service } from "@sluice/service/run-service.ts";
import type { Config } from "../config.ts";
import { makePasses } from "../passes.ts";
import { erasureMetrics } from "./metrics.ts";

/**
 * Keeps retention and finishes erasures that nobody finished, again and again, until told to stop. A store that is away
 * is waited for. One process is enough, and several do no harm.
 */
export async function keepErased(service: Service<Config>, erasures: Erasures): Promise<void> {
  const { config, log, resources, signal } = service;
  const metrics = erasureMetrics(service.metrics);
  const letters = resources.use(await openDeadLetters(config.CLICK_STORE_URL));
  const passes = {
    what: "erasure",
    failing: "what has to be erased is not erased",
    over: "what has to be erased is erased again",
    everyMs: config.ERASE_EVERY_MS,
    failed: metrics.failed,
    log,
    signal,
  };
  await makePasses(passes, async () => {
    const { clicks, letters: lettersGone, pending } = await eraseDue(erasures, letters, { signal });
    metrics.done({ clicks, letters: lettersGone, pending });
    if (clicks + lettersGone > 0) log.info({ clicks, letters: lettersGone }, "erased");
  });
}
