// The shipper's thread: what it costs, and a driver that misbehaves, stay away from the visitors.
import { setInterval } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

import type { EventLog } from "@sluice/event-log/event-log.ts";
import { noteIncarnation } from "@sluice/event-log/journal-incarnation.ts";
import { parseJournalUrl } from "@sluice/event-log/journal-url.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import type { Health } from "@sluice/service/health.ts";
import { createLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { openWhenReachable } from "@sluice/service/retry.ts";

import { Order, type Report, Task } from "./messages.ts";
import { appendToFile } from "@sluice/event-log/set-aside.ts";
import { throughRestarts } from "./restarts.ts";
import { type Progress, ship } from "@sluice/event-log/ship.ts";

const reportEveryMs = 1_000;
/** As long as segments stay that were shipped (`JOURNAL_MIN_AGE_MS`). A server that syncs once a second forgets seconds. */
const forgottenMs = 15 * 60_000;

const port = parentPort;
if (port === null) throw new Error("the shipper runs as a worker thread only");

const task = Task.parse(workerData);
const log = createLog("edge-shipper", task.logLevel);
const metrics = createMetrics();
const progress: Progress = { shipped: 0, setAside: 0, oldestInHand: undefined, trouble: undefined };
/** The metrics as they were last reported: those of an idle shipper do not change. */
let reported = "";
const health: Health = {
  check() {},
  ready() {},
  degraded(_name, reason) {
    progress.trouble = reason;
  },
};

/** Aborts when what is in the journal by then is all that is still to go … */
const told = new AbortController();
/** … and when even that has to wait for the next start. */
const tooLate = new AbortController();
port.on("message", (message) => {
  const { drainMs } = Order.parse(message);
  told.abort();
  setTimeout(() => tooLate.abort(), drainMs).unref();
});

const done = new AbortController();
const reporting = untilAborted(done.signal, keepReporting);
await untilAborted(tooLate.signal, run);
done.abort();
await reporting;
await report();
port.close();

async function run(): Promise<void> {
  const { journalUrl, eventLogUrl } = task;
  await using journal = await openEventLog(journalUrl, { log, metrics });
  await using to = await openWhenReachable("event log", () => openEventLog(eventLogUrl, { log, metrics }), {
    health,
    signal: tooLate.signal,
  });
  await untilAborted(told.signal, () =>
    throughRestarts({
      to,
      signal: told.signal,
      note: noteRestarts,
      ship: (signal) => shipFrom(journal, to, { signal }),
    }),
  );
  await shipFrom(journal, to, { signal: tooLate.signal, until: "now" });
}

/** What the server that was started anew may have forgotten is shipped again. */
async function noteRestarts(incarnation: string): Promise<void> {
  const { journalUrl, topic, group } = task;
  const { dir } = parseJournalUrl(journalUrl);
  const runs = await noteIncarnation({ dir, topic, group, incarnation, forgottenMs });
  if (runs > 0) {
    log.warn(
      { runs },
      "the event log's server was started anew: what it may have forgotten is shipped again",
    );
  }
}

async function shipFrom(
  journal: EventLog,
  to: EventLog,
  options: { signal: AbortSignal; until?: "now" },
): Promise<void> {
  const { topic, group, setAsidePath } = task;
  await using from = await journal.open(topic, { group, ...options });
  const setAside = appendToFile.bind(undefined, setAsidePath);
  await ship({ topic, from, to, setAside, progress, signal: options.signal });
}

/** An error that comes of our own signal is the end that was asked for. */
async function untilAborted(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted || !(error instanceof Error) || error.name !== "AbortError") throw error;
  }
}

async function keepReporting(): Promise<void> {
  for await (const _ of setInterval(reportEveryMs, undefined, { signal: done.signal })) await report();
}

async function report(): Promise<void> {
  const { oldestInHand, trouble, ...counts } = progress;
  const { body } = await metrics.render();
  const message: Report = {
    ...counts,
    ...(oldestInHand !== undefined && { oldestInHand }),
    ...(trouble !== undefined && { trouble }),
    ...(body !== reported && { metrics: body }),
  };
  reported = body;
  port?.postMessage(message);
}
