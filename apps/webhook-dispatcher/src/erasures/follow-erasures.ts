import { type Cover, createCover, emptyCover } from "@sluice/click-store/cover.ts";
import { type Erasures, listAgeMs } from "@sluice/click-store/erasures.ts";
import type { Outgoing } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { sleep } from "@sluice/service/retry.ts";
import { crash } from "../crash.ts";

/** Which events are of clicks that were erased. */
export interface KnownErasures {
  /** Resolves once they have been asked for, whether or not there was an answer, or the signal has aborted. */
  readonly asked: Promise<void>;
  /** As they were read last; nothing before the first time. */
  takes(event: Pick<Outgoing, "workspaceId" | "linkId" | "visitor" | "ts">): boolean;
}

/**
 * Asks for what has been erased, so often that nothing of it is sent later than `listAgeMs`, until the signal aborts.
 * While the click store is away what was heard last holds, and it says so: it stops no delivery.
 */
export function followErasures({
  list,
  health,
  signal,
  everyMs = listAgeMs / 2,
}: {
  readonly list: Erasures["list"];
  readonly health: Pick<Health, "degraded">;
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}): KnownErasures {
  let cover: Cover = emptyCover;
  const asked = Promise.withResolvers<void>();

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        cover = createCover(await list(AbortSignal.any([signal, AbortSignal.timeout(listAgeMs)])));
        health.degraded("erasures", undefined);
      } catch (error) {
        if (!signal.aborted)
          health.degraded("erasures", `what was erased is not heard of: ${errorLine(error)}`);
      }
      asked.resolve();
      await sleep(everyMs, signal).catch(() => {});
    }
    asked.resolve();
  }

  follow().catch(crash);
  return {
    asked: asked.promise,
    takes: ({ workspaceId, linkId = 0, visitor = "", ts }) =>
      cover.takes({ workspace_id: workspaceId, link_id: linkId, visitor, ts }),
  };
}
