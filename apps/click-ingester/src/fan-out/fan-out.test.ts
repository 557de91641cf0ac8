import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { createCover } from "@sluice/click-store/cover.ts";
import { type EventLog, EventLogError, type NewRecord } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import type { ClickSubscription } from "@sluice/link-store/subscription-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import { clickRecord, refusedRecord, sampleClick } from "../testing/sample-clicks.ts";
import { fanOut } from "./fan-out.ts";
import { interestsOf } from "./interests.ts";
import { createMatch } from "./match.ts";
import { fanOutMetrics } from "./metrics.ts";

const all: ClickSubscription = { workspaceId: 1, includeBots: false, includeOptedOut: false };
const erased = createCover([{ workspaceId: 1, linkId: 99, upTo: Date.UTC(2100, 0) }]);
const never = new AbortController().signal;

interface World {
  readonly events: EventLog;
  readonly subscriptions?: readonly ClickSubscription[];
  /** Stands before the topic. */
  readonly gate?: (records: readonly NewRecord[]) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** One life of the loop, to the end of the log. */
async function live({ events, subscriptions = [all], gate = async () => {}, signal = never }: World) {
  await using reader = await events.open("clicks", { group: "fanout", until: "now", signal: never });
  const interests = interestsOf(subscriptions);
  const metrics = createMetrics();
  const lacks: (string | undefined)[] = [];
  const match = createMatch({
    interestOf: (workspaceId) => interests.get(workspaceId),
    enrich: createEnricher({ cacheSize: 10 }),
    erased: () => erased,
    live: { isWatched: () => false, offer() {} },
  });
  await fanOut({
    reader,
    want: { minRecords: 1, maxRecords: 10, maxBytes: 1 << 20, maxWaitMs: 1 },
    match,
    async append(records) {
      await gate(records);
      await events.append("clicks.fanout", records);
    },
    metrics: fanOutMetrics(metrics),
    health: { degraded: (_name, reason) => void lacks.push(reason) },
    log: silentLog,
    signal,
  });
  return { lacks, metrics: (await metrics.render()).body };
}

const openMemory = () => openEventLog("memory:", { log: silentLog, metrics: createMetrics() });
const clicks = (count: number, fields: Partial<ClickEvent> = {}) =>
  Array.from({ length: count }, (_each, index) => sampleClick(1, index + 1, fields));

/** The numbers of the clicks in the dispatcher's topic. */
async function fannedOut(events: EventLog): Promise<number[]> {
  await using reader = await events.open("clicks.fanout", { group: "test", until: "now", signal: never });
  const numbers: number[] = [];
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 1_000, maxBytes: 1 << 24, maxWaitMs: 1 });
    if (batch === undefined) return numbers;
    for (const { key, value } of batch.records) {
      const decoded = decodeRecord(value);
      if (decoded.kind !== "click") throw new Error(decoded.kind);
      expect(key).toBe(decoded.event.event_id);
      numbers.push(decoded.event.edge_seq);
    }
    await batch.commit();
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_each, at) => from + at);

test("what somebody wants is passed on, and everything else is counted with its reason", async () => {
  await using events = await openMemory();
  await events.append("clicks", [
    ...clicks(3).map(clickRecord),
    clickRecord(sampleClick(1, 4, { workspace_id: 2 })),
    clickRecord(sampleClick(1, 5, { bot: 1 })),
    clickRecord(sampleClick(1, 6, { prefetch: true })),
    clickRecord(sampleClick(1, 7, { gpc: true })),
    refusedRecord(1, 8, 9),
    clickRecord(sampleClick(1, 10, { link_id: 99 })),
    { key: "x", value: Buffer.from("none of ours") },
  ]);
  const { metrics } = await live({ events });
  expect(await fannedOut(events)).toEqual([1, 2, 3]);
  for (const line of [
    'fanout_skipped_total{reason="unsubscribed"} 1',
    'fanout_skipped_total{reason="unwanted"} 3',
    'fanout_skipped_total{reason="no-click"} 1',
    'fanout_skipped_total{reason="erased"} 1',
    'fanout_skipped_total{reason="undecodable"} 1',
    "fanout_matched_total 3",
    "fanout_appended_total 3",
  ]) {
    expect(metrics).toContain(line);
  }
});

test("ended before an append, or between it and the commit, it appends again and skips nothing", async () => {
  await using events = await openMemory();
  await events.append("clicks", clicks(35).map(clickRecord));
  for (const isAppended of [true, false, true, false]) {
    let batches = 0;
    const gate = async (records: readonly NewRecord[]) => {
      batches += 1;
      if (batches === 1) return;
      if (isAppended) await events.append("clicks.fanout", records);
      throw new Error("killed");
    };
    await live({ events, gate }).catch(() => {});
  }
  const passedOn = await fannedOut(events);
  expect(passedOn.length).toBeGreaterThan(35);
  expect([...new Set(passedOn)].toSorted((one, other) => one - other)).toEqual(range(1, 35));
});

test("a topic that is full is waited for, said, and skips nothing", async () => {
  await using events = await openMemory();
  await events.append("clicks", clicks(15).map(clickRecord));
  let refusals = 3;
  const gate = async () => {
    if (refusals-- > 0) throw new EventLogError("full", "no room");
  };
  const { lacks, metrics } = await live({ events, gate });
  expect(lacks[0]).toContain("no room");
  expect(lacks.at(-1)).toBeUndefined();
  expect(metrics).toContain('fanout_append_failures_total{code="full"} 3');
  expect(await fannedOut(events)).toEqual(range(1, 15));
});

test("a topic with room for less than a batch takes it in parts", async () => {
  await using events = await openMemory();
  await events.append("clicks", clicks(10).map(clickRecord));
  const noRoom = new EventLogError("full", "no room");
  const gate = async (records: readonly NewRecord[]) => {
    if (records.length > 2) throw noRoom;
  };
  await live({ events, gate });
  expect(await fannedOut(events)).toEqual(range(1, 10));
});

test("told to stop while the topic is full, it leaves what it has in hand to the next life", async () => {
  await using events = await openMemory();
  await events.append("clicks", clicks(5).map(clickRecord));
  const stop = new AbortController();
  const gate = async () => {
    stop.abort();
    throw new EventLogError("full", "no room");
  };
  await expect(live({ events, gate, signal: stop.signal })).rejects.toThrow(/abort/i);
  await live({ events });
  expect(await fannedOut(events)).toEqual(range(1, 5));
});

test("a record that the topic can never take is counted and keeps nobody waiting", async () => {
  await using events = await openMemory();
  await events.append("clicks", clicks(5).map(clickRecord));
  const tooLarge = new EventLogError("too-large", "too large", { indexes: [1] });
  const gate = async (records: readonly NewRecord[]) => {
    if (records.length === 5) throw tooLarge;
  };
  const { metrics } = await live({ events, gate });
  expect(metrics).toContain('fanout_skipped_total{reason="too-large"} 1');
  expect(await fannedOut(events)).toEqual([1, 3, 4, 5]);
});
