import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import { encodeClick } from "@sluice/click-event/encode.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { EventLogError, type EventLog, type NewRecord } from "@sluice/event-log/event-log.ts";

const tickMs = 50;
/** How many of the last records a shipper that crashed may send once more. */
const resendable = 2_000;

interface Run {
  readonly name: string;
  answered: number;
  /** The last of them. */
  sent: readonly NewRecord[];
}

/** Clicks of several edges, appended at a steady rate as their shippers do: each until it is answered, in order. */
export function startAppender(
  events: EventLog,
  { perSecond, edges }: { readonly perSecond: number; readonly edges: number },
) {
  const runs = Array.from({ length: edges }, (): Run => ({ name: newRun(), answered: 0, sent: [] }));
  const stopping = new AbortController();
  const resend = new Set<number>();

  async function append(records: readonly NewRecord[]): Promise<void> {
    for (;;) {
      try {
        return await events.append("clicks", records);
      } catch (error) {
        if (!(error instanceof EventLogError) || !error.retryable) throw error;
      }
      await delay(tickMs);
    }
  }

  async function ship(edge: number): Promise<void> {
    const run = runs[edge];
    if (run === undefined) return;
    for (const startedAt = performance.now(); !stopping.signal.aborted; await delay(tickMs)) {
      const due = Math.floor((((performance.now() - startedAt) / 1_000) * perSecond) / edges);
      if (resend.delete(edge)) await append(run.sent);
      const records: NewRecord[] = [];
      // What could not be sent on time is made up for, in pieces.
      for (let seq = run.answered + 1; seq <= due && records.length < 2_000; seq += 1)
        records.push(clickOf(run.name, seq));
      if (records.length === 0) continue;
      await append(records);
      run.answered += records.length;
      run.sent = [...run.sent, ...records].slice(-resendable);
    }
  }

  const done = Promise.all(runs.map((_, edge) => ship(edge)));
  return {
    /** How many clicks of each run the log has taken. */
    runs: () => runs.map(({ name, answered }) => ({ name, answered })),
    answered: () => runs.reduce((sum, { answered }) => sum + answered, 0),
    /** The shipper of an edge begins again with what it sent last. */
    resend: (edge: number) => void resend.add(edge),
    /** Resolves when what is under way is answered. */
    async stop(): Promise<void> {
      stopping.abort();
      await done;
    },
  };
}

export type Appender = ReturnType<typeof startAppender>;

/** As an edge mints it: version 7. */
function newRun(): string {
  return randomUUID().replace(/^(.{14})./, (_, head: string) => `${head}7`);
}

/** Of the same click always the same: a resend is a repeat. */
function clickOf(run: string, seq: number): NewRecord {
  const event_id = `${run.slice(0, 8)}-0000-7000-8000-${seq.toString(16).padStart(12, "0")}`;
  const ts = 1_790_000_000_000 + seq;
  return { key: run, value: encodeClick(sampleClick({ event_id, edge_run: run, edge_seq: seq, ts })) };
}
