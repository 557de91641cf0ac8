import { createEnricher } from "@sluice/click-event/enrich.ts";
import type { Reader, Want } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { ServiceError } from "@sluice/service/service-error.ts";
import type { Config } from "../config.ts";
import type { KnownErasures } from "../erasure/known-erasures.ts";
import { appendAll } from "../fan-out/append-all.ts";
import { fanOutLogUrl } from "@sluice/event-log/fan-out-url.ts";
import { interestsOf } from "../fan-out/interests.ts";
import { createMatch } from "../fan-out/match.ts";

/** Passes clicks on to the dispatcher once more, marked as no news. */
export interface FanOutAgain extends AsyncDisposable {
  /** Resolves once what is wanted of these encoded clicks is appended; a topic that is full is waited for. */
  pass(values: readonly Uint8Array[], signal: AbortSignal): Promise<void>;
  /** How many were wanted so far. */
  passedOn(): number;
}

export interface FanOutAgainOptions {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly erased: KnownErasures;
  /** Append nothing, and only count. */
  readonly dryRun?: boolean;
  readonly signal: AbortSignal;
}

/** Who wants clicks is read once. Rejects with a ServiceError where it cannot be known. */
export async function openFanOutAgain(options: FanOutAgainOptions): Promise<FanOutAgain> {
  const { config, log, metrics, erased, dryRun = false, signal } = options;
  const { DATABASE_URL, FANOUT_TOPIC } = config;
  if (DATABASE_URL === undefined)
    throw new ServiceError("config", "DATABASE_URL is missing: the Postgres that knows who wants clicks");
  await using links = openLinkStore(DATABASE_URL, { log });
  const interests = interestsOf(await links.clickSubscriptions());
  await using stack = new AsyncDisposableStack();
  const target = dryRun ? undefined : stack.use(await openEventLog(fanOutLogUrl(config), { log, metrics }));
  let cover = await erased.current(signal);
  const match = createMatch({
    interestOf: (workspaceId) => interests.get(workspaceId),
    enrich: createEnricher({ cacheSize: 10_000 }),
    erased: () => cover,
    live: { isWatched: () => false, offer() {} },
    replayed: true,
  });
  const outage = createOutage(
    log,
    { what: "fan-out" },
    { failing: "the dispatcher's topic takes nothing for now", over: "the dispatcher's topic takes clicks" },
  );
  let passedOn = 0;
  const opened = stack.move();
  return {
    async pass(values, lost) {
      cover = await erased.current(lost);
      const wanted = values.map(match).filter((matched) => typeof matched !== "string");
      if (target !== undefined)
        await appendAll(wanted, {
          append: (records) => target.append(FANOUT_TOPIC, records),
          onAppended: () => outage.over(),
          onTooLarge: (records) => log.error({ records }, "the fan-out topic takes no records of this size"),
          onRefused: (error) => outage.failing(error),
          signal: AbortSignal.any([lost, signal]),
        });
      passedOn += wanted.length;
    },
    passedOn: () => passedOn,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A reader whose batches are passed on before they are committed, as the fan-out loop does. */
export function thenFanOut(reader: Pick<Reader, "next">, again: FanOutAgain): Pick<Reader, "next"> {
  return {
    async next(want: Want) {
      const batch = await reader.next(want);
      if (batch === undefined) return undefined;
      const { records, epoch, signal } = batch;
      let isPassed = false;
      return {
        records,
        epoch,
        signal,
        async commit() {
          // A commit is tried again.
          if (!isPassed)
            await again.pass(
              records.map(({ value }) => value),
              signal,
            );
          isPassed = true;
          await batch.commit();
        },
      };
    },
  };
}
