import type { Trouble } from "@sluice/click-store/click-store.ts";
import { type Cover, createCover, emptyCover } from "@sluice/click-store/cover.ts";
import { type Erasures, listAgeMs } from "@sluice/click-store/erasures.ts";
import { patiently } from "@sluice/service/retry.ts";
import { onStoreTrouble } from "../store/patience.ts";

/** What has been erased, for whoever must not bring it back. */
export interface KnownErasures {
  /** At most `listAgeMs` old; mostly without a request. Rejects as `Erasures.list` does. */
  current(signal: AbortSignal): Promise<Cover>;
  /** As it was read last, nothing before the first time. Has it read anew behind the caller's back when it is old. */
  latest(): Cover;
}

/** As `current`, waiting for a store that is away. */
export async function whenKnown(
  erased: KnownErasures,
  signal: AbortSignal,
  onTrouble: (trouble: Trouble) => void,
): Promise<Cover> {
  return await patiently(() => erased.current(signal), { signal, waitOn: onStoreTrouble(onTrouble) });
}

/** `now` counts milliseconds, monotonic. */
export function createKnownErasures(
  store: Pick<Erasures, "list">,
  stopped: AbortSignal,
  now: () => number = () => performance.now(),
): KnownErasures {
  let cover = emptyCover;
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;

  async function read(signal: AbortSignal): Promise<void> {
    const startedAt = now();
    cover = createCover(await store.list(signal));
    readAt = startedAt;
  }
  const isOld = () => now() - readAt > listAgeMs;

  return {
    async current(signal) {
      if (isOld()) await read(signal);
      return cover;
    },
    latest() {
      // What it cannot read the store loop says, and a click that is passed on meanwhile is one that was under way.
      if (isOld())
        reading ??= read(stopped)
          .catch(() => {})
          .finally(() => (reading = undefined));
      return cover;
    },
  };
}
