import { hostname } from "node:os";
import { ClickStoreError, type Trouble } from "@sluice/click-store/click-store.ts";
import type { Erasures } from "@sluice/click-store/erasures.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import type { RunChecks } from "@sluice/click-store/run-checks.ts";
import type { EventLog } from "@sluice/event-log/event-log.ts";
import { openWhenReachable } from "@sluice/service/retry.ts";
import type { Service } from "@sluice/service/run-service.ts";
import type { Config } from "../config.ts";
import { type KnownErasures, whenKnown } from "../erasure/known-erasures.ts";
import { createEncoding } from "./encoding.ts";
import { ingest } from "./ingest.ts";
import { ingestMetrics } from "./metrics.ts";
import { createPace } from "./pace.ts";
import { prepare } from "./prepare.ts";
import { createRunNotes } from "./run-notes.ts";
import { createSliceStore } from "./store-slice.ts";
import { createTroubleWatch } from "./trouble.ts";

/** What the store loop shares with others. */
interface Beside {
  readonly checks: Pick<RunChecks, "note">;
  readonly erasures: Pick<Erasures, "noteErased">;
  readonly erased: KnownErasures;
}

/** Opens what storing takes, waiting for a store that is away, and stores clicks until told to stop. */
export async function storeClicks(
  service: Service<Config>,
  events: EventLog,
  { checks, erasures, erased }: Beside,
): Promise<void> {
  const { config, log, metrics: registry, health, resources, signal } = service;
  const metrics = ingestMetrics(registry);
  const trouble = createTroubleWatch({ metrics, log });
  const { EVENT_LOG_URL, EVENT_LOG_TOPIC: topic, EVENT_LOG_GROUP: group } = config;

  const store = resources.use(
    await openClickStore(config.CLICK_STORE_URL, {
      log,
      metrics: registry,
      owner: `${hostname()}/${process.pid}`,
    }),
  );
  health.check("click-store", async () => {
    // Who does not answer is not asked again; who refuses may say what is missing.
    if (!trouble.needsPerson()) trouble.check();
    await store.ping();
    trouble.check();
  });
  await openWhenReachable("click-store", () => store.ping(), service, isClickStoreError);
  const reader = resources.use(
    await openWhenReachable("event-log", () => events.open(topic, { group, signal }), service),
  );
  health.ready();

  const origin = { log: EVENT_LOG_URL.slice(0, EVENT_LOG_URL.indexOf(":")), topic };
  const encoding = createEncoding(store);
  const pace = createPace(
    {
      minRecords: config.BATCH_MIN_ROWS,
      maxRecords: config.BATCH_MAX_ROWS,
      maxBytes: config.BATCH_MAX_BYTES,
      maxWaitMs: config.BATCH_MAX_WAIT_MS,
    },
    metrics,
  );
  const seen = (each: Trouble) => {
    pace.seen(each);
    trouble.seen(each);
  };
  await ingest({
    reader,
    want: () => pace.next(),
    prepare: async (records, lost) =>
      prepare(records, { origin, encoding, cover: await whenKnown(erased, lost, seen) }),
    slices: createSliceStore({
      table: store,
      runs: createRunNotes(checks),
      erasures,
      origin,
      trouble: { seen, over: () => trouble.over() },
      metrics,
    }),
    // A batch at its most bytes is two of them, so that one is decoded while the other is inserted. Smaller ones cost
    // ClickHouse more: a third more at 7,000. Kafka's reader hands out some 5,500, which is what it fetches ahead; it
    // fetches the next ones while these are stored.
    maxSliceRecords: 12_500,
    metrics,
    log,
  });
}

/** Also one that only a person can mend, as missing tables: that is waited for, not ready, and the log keeps the data. */
function isClickStoreError(error: unknown): boolean {
  return error instanceof ClickStoreError;
}
