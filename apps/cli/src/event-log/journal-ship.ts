import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import type { EventLog } from "@sluice/event-log/event-log.ts";
import { shipWhole, unshippedBytes } from "@sluice/event-log/journal-ship-whole.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { appendToFile } from "@sluice/event-log/set-aside.ts";
import type { Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { patiently } from "@sluice/service/retry.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";
import type { Progress } from "../progress.ts";

/** As an edge names them. */
const group = "shipper";
const setAsideName = "set-aside.ndjson";

/** For the journal of an edge that is gone: what it has not shipped goes to the event log, and then nothing keeps its disk. */
export async function shipJournal(
  context: Context,
  path: string,
  { topic }: { readonly topic: string },
): Promise<void> {
  const { addresses, print, note } = context;
  const dir = resolve(path);
  const eventLogUrl = await addresses.eventLogUrl();
  if (eventLogUrl.startsWith("journal:"))
    throw new ServiceError(
      "config",
      "EVENT_LOG_URL takes Kafka or Redis here: a journal is not shipped to another",
    );
  const bytes = await unshippedBytes({ dir, topic, group });
  const { signal } = new AbortController();
  const deps = { log: tellingOfDamage(context), metrics: createMetrics() };
  await using events = await patiently(() => openEventLog(eventLogUrl, deps), {
    signal,
    waitOn: (error) => isRetryable(error) && waiting(error),
  });
  using progress = context.progress(bytes);
  const setAsidePath = join(dir, setAsideName);
  const { shipped } = await shipWhole({
    dir,
    topic,
    group,
    to: watched(events, progress, waiting),
    setAside: appendToFile.bind(undefined, setAsidePath),
    signal,
    ...deps,
  });
  print(`journal: ${shipped} records shipped; the event log has all of ${dir}`);
  const kept = await stat(setAsidePath).catch(() => undefined);
  if (kept !== undefined && kept.size > 0)
    note(`keep ${setAsidePath}: records that are too large for the event log, a line each`);

  function waiting(error: unknown): true {
    note(`waiting: ${errorLine(error)}`);
    return true;
  }
}

/** What it takes advances the progress, what it refuses for now is told. */
function watched(
  events: EventLog,
  progress: Progress,
  refused: (error: unknown) => void,
): Pick<EventLog, "append" | "incarnation"> {
  return {
    async append(topic, records) {
      try {
        await events.append(topic, records);
        progress.advance(records.reduce((sum, { value }) => sum + value.length, 0));
      } catch (error) {
        if (isRetryable(error)) refused(error);
        throw error;
      }
    },
    ...(events.incarnation !== undefined && { incarnation: events.incarnation.bind(events) }),
  };
}

/** The reader of a journal has a word for whoever is about to delete it when a stretch cannot be read. */
function tellingOfDamage({ log, note }: Context): Log {
  return { ...log, error: (fields, message) => note(`${message}: ${JSON.stringify(fields)}`) };
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && "retryable" in error && error.retryable === true;
}
