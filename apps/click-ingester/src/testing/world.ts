import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import { emptyCover } from "@sluice/click-store/cover.ts";
import {
  type EventLog,
  EventLogError,
  type NewRecord,
  type Reader,
  type Want,
} from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { ingest } from "../store/ingest.ts";
import { ingestMetrics } from "../store/metrics.ts";
import { prepare } from "../store/prepare.ts";
import { createRunNotes } from "../store/run-notes.ts";
import { createSliceStore } from "../store/store-slice.ts";
import { type TableModel, createTableModel, eventOf, rowOf } from "./table-model.ts";
import { createTroubleWatch } from "../store/trouble.ts";

// For tests: a log, a table, and ingesters that live one after another.

/**
 * What happens to an ingester, so many steps after the last: it dies, the log takes its records away, or whoever it
 * asks does not answer (inserts excepted: the click store tries them again by itself).
 */
export interface Fault {
  readonly afterSteps: number;
  readonly kind: "crash" | "rebalance" | "no answer";
}

export interface Sizes {
  readonly maxRecords: number;
  readonly maxSliceRecords: number;
}

/** The table model refuses clicks of this slug. */
export const refusedSlug = "refused";

const topic = "clicks";
const group = "store";
const never = new AbortController().signal;

class Crash extends Error {}

/** Runs ingesters over these records through all the faults, until one comes to the end of the log. */
export async function liveThrough(records: readonly NewRecord[], faults: readonly Fault[], sizes: Sizes) {
  await using events = await openEventLog("memory:", { log: silentLog, metrics: createMetrics() });
  await events.append(topic, records);
  const steps: string[] = [];
  const coming = [...faults];
  let stepsLeft = coming[0]?.afterSteps;

  async function step(name: string): Promise<void> {
    steps.push(name);
    if (stepsLeft === undefined) return;
    stepsLeft -= 1;
    if (stepsLeft > 0) return;
    const fault = coming.shift();
    stepsLeft = coming[0]?.afterSteps;
    if (fault?.kind === "crash") throw new Crash(`at ${name}`);
    if (fault?.kind === "no answer") return refuseToAnswer(name);
    // The member opened last owns the topic, and gives it back when it leaves.
    await (await events.open(topic, { group, signal: never }))[Symbol.asyncDispose]();
  }

  const table = createTableModel({ refuses: (row) => eventOf(row).slug === refusedSlug, step });
  while (!(await livesToTheEnd(events, table, step, sizes)));
  table.land();
  return { table, steps };
}

function refuseToAnswer(step: string): void {
  if (step === "look-up") throw new ClickStoreError("retry", 0, "connection refused");
  if (step === "commit sent") throw new EventLogError("unavailable", "no answer");
}

async function livesToTheEnd(
  events: EventLog,
  table: TableModel,
  step: (name: string) => Promise<void>,
  { maxRecords, maxSliceRecords }: Sizes,
): Promise<boolean> {
  await using reader = await events.open(topic, { group, until: "now", signal: never });
  const metrics = ingestMetrics(createMetrics());
  const origin = { log: "memory", topic };
  try {
    await ingest({
      reader: stepping(reader, step),
      want: () => ({ minRecords: 1, maxRecords, maxBytes: 1 << 20, maxWaitMs: 1 }),
      maxSliceRecords,
      prepare: (records) => prepare(records, { origin, encoding: { encode: rowOf }, cover: emptyCover }),
      slices: createSliceStore({
        table,
        runs: createRunNotes({ note: async () => {} }),
        erasures: { noteErased: async () => {} },
        origin,
        metrics,
        trouble: createTroubleWatch({ metrics, log: silentLog }),
      }),
      metrics,
      log: silentLog,
    });
    return true;
  } catch (error) {
    if (error instanceof Crash) return false;
    throw error;
  }
}

function stepping(reader: Reader, step: (name: string) => Promise<void>): Pick<Reader, "next"> {
  return {
    async next(want: Want) {
      const batch = await reader.next(want);
      if (batch === undefined) return undefined;
      await step("read");
      return {
        records: batch.records,
        epoch: batch.epoch,
        signal: batch.signal,
        async commit() {
          await step("commit sent");
          await batch.commit();
          await step("committed");
        },
      };
    },
  };
}
