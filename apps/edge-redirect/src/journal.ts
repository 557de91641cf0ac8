import { access, constants, mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { type JournalSettings, parseJournalUrl } from "@sluice/event-log/journal-url.ts";
import { EventLogError } from "@sluice/event-log/event-log.ts";
import { type JournalWriter, openJournalWriter } from "@sluice/event-log/journal-writer.ts";
import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Config } from "./config.ts";

/** For whom the journal holds its segments when clicks go on to another log. */
export const shipperGroup = "shipper";

/** With one more group for which its segments are held. */
export function withGroup(journal: Journal, group: string): Journal {
  // Without any they are held for ever.
  if (journal.settings.groups.length === 0) return journal;
  const url = new URL(journal.url);
  url.searchParams.set("groups", [...journal.settings.groups, group].join(","));
  return { ...journal, url: url.href, settings: parseJournalUrl(url.href) };
}

export interface Journal {
  /** The topic of the clicks, here and in the event log. */
  readonly topic: string;
  readonly settings: JournalSettings;
  /** The same, as the event log takes it. */
  readonly url: string;
  /** False when the journal is the event log itself. */
  readonly shipped: boolean;
}

/** Where this edge writes its clicks. Rejects with a ServiceError `config` when the folder cannot be written. */
export async function prepareJournal(config: Config): Promise<Journal> {
  const shipped = !config.EVENT_LOG_URL.startsWith("journal:");
  const url = shipped ? urlOf(config) : config.EVENT_LOG_URL;
  const variable = shipped ? "JOURNAL_DIR" : "EVENT_LOG_URL";
  try {
    const settings = parseJournalUrl(url);
    await mkdir(settings.dir, { recursive: true });
    await access(settings.dir, constants.W_OK | constants.X_OK);
    return { topic: config.EVENT_LOG_TOPIC, settings, url, shipped };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError("config", `${variable}: takes a journal that can be written: ${reason}`, {
      cause: error,
    });
  }
}

/** Begins a run. Rejects with a ServiceError `config` when the folder was written by a newer version. */
export async function openRun(
  { settings, topic }: Journal,
  run: string,
  deps: { log: Log; metrics: Metrics },
): Promise<JournalWriter> {
  try {
    return await openJournalWriter(settings.dir, { ...settings, topic, run, ...deps });
  } catch (error) {
    if (!(error instanceof EventLogError) || error.code !== "misuse") throw error;
    throw new ServiceError("config", error.message, { cause: error });
  }
}

function urlOf(config: Config): string {
  const url = new URL(pathToFileURL(resolve(config.JOURNAL_DIR)).href.replace("file:", "journal:"));
  const parameters = {
    groups: shipperGroup,
    minAgeMs: config.JOURNAL_MIN_AGE_MS,
    budgetBytes: config.JOURNAL_BUDGET,
    reserveBytes: config.JOURNAL_RESERVE,
    segmentBytes: config.JOURNAL_SEGMENT,
    fsync: config.JOURNAL_FSYNC,
    fsyncIntervalMs: config.JOURNAL_FSYNC_INTERVAL_MS,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return url.href;
}
