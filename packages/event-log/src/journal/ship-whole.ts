import { access } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { patiently, sleep } from "@sluice/service/retry.ts";
import { type EventLog, EventLogError, type LogRecord } from "../event-log.ts";
import { type Progress, ship } from "../ship.ts";
import { openJournalEventLog } from "./event-log.ts";
import { noteIncarnation } from "./incarnation.ts";
import { measureLag } from "./lag.ts";
import { lastSignOfLife, listRuns, positionPath, topicDir } from "./layout.ts";
import { type Position, readPosition } from "./position.ts";

/** A journal whose writer is gone for good, and where it goes. */
export interface WholeJournal {
  readonly dir: string;
  readonly topic: string;
  /** For whom the writer held it: what that group has read is not shipped again. */
  readonly group: string;
  readonly to: Pick<EventLog, "append" | "incarnation">;
  /** Resolves when a record that `to` will never take is safe elsewhere. */
  readonly setAside: (record: LogRecord) => Promise<void>;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long a server that syncs once a second is given to do so. */
  readonly settleMs?: number;
}

/** Six heartbeats. A writer that was killed is not waited for longer. */
const goneAfterMs = 30_000;
const defaultSettleMs = 3_000;
/** As long as the journal keeps what it has shipped, for such a server. */
const forgottenMs = 15 * 60_000;

/** Bytes that the group has not read. Rejects with `misuse` where there is no journal of the topic. */
export async function unshippedBytes({
  dir,
  topic,
  group,
}: Pick<WholeJournal, "dir" | "topic" | "group">): Promise<number> {
  const folder = await existing(dir, topic);
  const open = new Map<string, Position>();
  for (const run of await listRuns(folder)) {
    const position = await readPosition(positionPath(join(folder, run), group));
    if (!position.finished) open.set(run, position);
  }
  return await measureLag(folder, open);
}

/**
 * Copies all of a journal to another event log and resolves when that log has it. May be ended at any moment and called
 * again: it goes on at the last commit, so that little comes twice. Waits for a log that takes nothing, without end.
 * Rejects with `misuse` where there is no such journal or a writer is at work in it, with `lost` when another reads it
 * for the group, and with an AbortError.
 */
export async function shipWhole(journal: WholeJournal): Promise<Pick<Progress, "shipped" | "setAside">> {
  const { dir, topic, group, to, signal, settleMs = defaultSettleMs } = journal;
  await refuseAtWork(await existing(dir, topic));
  const progress: Progress = { shipped: 0, setAside: 0, oldestInHand: undefined, trouble: undefined };
  if (to.incarnation === undefined) {
    await shipOnce(journal, progress);
    return progress;
  }
  const incarnationNow = () =>
    patiently(async () => (await to.incarnation?.()) ?? "", { signal, waitOn: isRetryable });
  for (;;) {
    const incarnation = await incarnationNow();
    await noteIncarnation({ dir, topic, group, incarnation, forgottenMs });
    await shipOnce(journal, progress);
    // What is acknowledged is not yet on that server's disk, and this journal is about to be deleted.
    await sleep(settleMs, signal);
    if ((await incarnationNow()) === incarnation) return progress;
  }
}

async function shipOnce(journal: WholeJournal, progress: Progress): Promise<void> {
  const { dir, topic, group, to, setAside, signal, log, metrics } = journal;
  const url = pathToFileURL(dir).href.replace("file:", "journal:");
  await using events = await openJournalEventLog(`${url}?deadAfterMs=${goneAfterMs}`, { log, metrics });
  await using from = await events.open(topic, { group, until: "now", signal });
  await ship({ topic, from, to, setAside, progress, signal });
  // A reader ends without an error at the signal, too.
  signal.throwIfAborted();
}

async function existing(dir: string, topic: string): Promise<string> {
  const folder = topicDir(dir, topic);
  try {
    await access(join(folder, "FORMAT"));
    return folder;
  } catch (cause) {
    throw new EventLogError("misuse", `${dir} has no journal of the topic ${topic}`, { cause });
  }
}

async function refuseAtWork(folder: string): Promise<void> {
  for (const run of await listRuns(folder)) {
    const silentMs = Date.now() - (await lastSignOfLife(join(folder, run)));
    if (silentMs > goneAfterMs) continue;
    const seconds = Math.max(0, Math.round(silentMs / 1_000));
    throw new EventLogError(
      "misuse",
      `${folder} was written to ${seconds} s ago: stop its edge, which would ship it itself, and wait ${goneAfterMs / 1_000} s`,
    );
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof EventLogError && error.retryable;
}
