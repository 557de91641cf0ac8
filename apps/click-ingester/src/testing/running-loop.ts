import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { emptyCover } from "@sluice/click-store/cover.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { openFaultProxy } from "@sluice/click-store/testing/fault-proxy.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { createEncoding } from "../store/encoding.ts";
import { ingest } from "../store/ingest.ts";
import { type IngestMetrics, ingestMetrics } from "../store/metrics.ts";
import { prepare } from "../store/prepare.ts";
import { createRunNotes } from "../store/run-notes.ts";
import { createSliceStore } from "../store/store-slice.ts";
import { createTroubleWatch } from "../store/trouble.ts";
import { ask, clickCounts } from "./click-counts.ts";
import { clickRecord, sampleClick } from "./sample-clicks.ts";

/** A ClickHouse with its tables, a proxy before it that does harm, and a log. */
async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const clickhouse = stack.use(await testClickHouse());
  await migrate(`${clickhouse.url}/${clickhouse.database}`, { log: silentLog });
  await ask(clickhouse, "SYSTEM STOP MERGES click_events");
  const proxy = stack.use(await openFaultProxy(clickhouse.url));
  const registry = createMetrics();
  const deps = { log: silentLog, metrics: registry };
  const store = stack.use(await openClickStore(`${proxy.url}/${clickhouse.database}`, deps));
  const events = stack.use(await openEventLog("memory:", deps));
  const opened = stack.move();
  return { clickhouse, proxy, registry, store, events, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** For tests: the store loop between a log and a real ClickHouse. */
export async function openRunningLoop() {
  await using stack = new AsyncDisposableStack();
  const { clickhouse, proxy, registry, store, events } = stack.use(await openWorld());
  const metrics = ingestMetrics(registry);
  const trouble = createTroubleWatch({ metrics, log: silentLog, patienceMs: 0 });
  const stop = new AbortController();
  const reader = stack.use(await events.open("clicks", { group: "store", signal: stop.signal }));
  const origin = { log: "memory", topic: "clicks" };
  /** What readiness says at each trouble. */
  const said: string[] = [];
  const ended = ingest({
    reader,
    want: () => ({ minRecords: 1, maxRecords: 50_000, maxBytes: 1 << 24, maxWaitMs: 1 }),
    maxSliceRecords: 12_500,
    prepare: (records) => prepare(records, { origin, encoding: createEncoding(store), cover: emptyCover }),
    slices: createSliceStore({
      table: store,
      runs: createRunNotes({ note: async () => {} }),
      erasures: { noteErased: async () => {} },
      origin,
      trouble: {
        seen(each) {
          trouble.seen(each);
          said.push(readiness(() => trouble.check()));
        },
        over: () => trouble.over(),
      },
      metrics,
    }),
    metrics,
    log: silentLog,
  });
  stack.defer(async () => {
    stop.abort();
    await ended;
  });
  let appended = 0;
  const opened = stack.move();
  return {
    clickhouse,
    store,
    proxy,
    said,
    readiness: () => readiness(() => trouble.check()),
    async append(count: number, fieldsOf: (index: number) => Partial<ClickEvent> = () => ({})) {
      const clicks = Array.from({ length: count }, (_, index) =>
        sampleClick(1, appended + index + 1, fieldsOf(index)),
      );
      appended += count;
      await events.append("clicks", clicks.map(clickRecord));
    },
    counts: () => clickCounts(clickhouse),
    letters: () =>
      ask(clickhouse, "SELECT edge_seq, reason, error FROM click_dead_letters FINAL ORDER BY ALL"),
    troubles: (errorClass: string, code: number) => troublesOf(metrics, errorClass, code),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function troublesOf({ trouble }: IngestMetrics, errorClass: string, code: number): Promise<number> {
  const { values } = await trouble.get();
  const found = values.find(({ labels }) => labels.class === errorClass && labels.code === `${code}`);
  return found?.value ?? 0;
}

function readiness(check: () => void): string {
  try {
    check();
    return "ready";
  } catch (error) {
    return String(error);
  }
}
