import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import { openTargetStore } from "@sluice/link-store/targets/open-targets.ts";
import type { TestOutcome } from "@sluice/link-store/targets/target-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { sleep } from "@sluice/service/retry.ts";

export const secretKey = Buffer.alloc(32, 7).toString("base64");

export const delivered: TestOutcome = { ok: true, code: "", status: 204, detail: "" };

/** Does of a dispatcher's work what the command line waits for, until disposed: every test ends like this. */
export async function playDispatcher(url: string, outcome: TestOutcome): Promise<AsyncDisposable> {
  const targets = openTargetStore(url, { log: silentLog, keys: [secretKey] });
  const deliveries = openDeliveryStore(url, { log: silentLog });
  const stop = new AbortController();
  async function answer(): Promise<void> {
    const now = Date.now();
    await deliveries.beat("played", now);
    for (const test of await targets.claimTests({ now, leaseUntil: now + 30_000, limit: 10 }))
      await targets.finishTest(test, outcome, Date.now());
  }
  await answer();
  const playing = (async () => {
    while (!stop.signal.aborted) {
      await answer();
      await sleep(50, stop.signal).catch(() => {});
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await playing;
      await deliveries.leave("played");
      await deliveries[Symbol.asyncDispose]();
      await targets[Symbol.asyncDispose]();
    },
  };
}
