import { randomUUID } from "node:crypto";
import { openArchiveReader } from "@sluice/event-log/archive-reader.ts";
import { s3KeyFields } from "@sluice/event-log/archive-s3-keys.ts";
import { openArchiveStorage } from "@sluice/event-log/archive-storage.ts";
import type { Reader } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { readConfig } from "@sluice/service/config.ts";
import type { Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { z } from "zod";
import type { Config } from "../config.ts";

/** Where a replay takes its records from: the event log, or an archive of it. */
export interface Source extends AsyncDisposable {
  readonly reader: Pick<Reader, "next">;
  /** How many files it has chosen; none where it is a log. */
  readonly files: number;
  /** What could not be read and was passed over, for the end of a report; empty when there is nothing. */
  readonly summary: () => string;
}

export interface SourceOptions {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** What the log has now and took since `from`, in ms, or somewhat before; in a group of the replay's own. */
export async function openLogSource(
  { from: since }: { readonly from: number },
  { config, log, metrics, signal }: SourceOptions,
): Promise<Source> {
  await using stack = new AsyncDisposableStack();
  const events = stack.use(await openEventLog(config.EVENT_LOG_URL, { log, metrics }));
  const group = `replay-${randomUUID()}`;
  const reader = stack.use(
    await events.open(config.EVENT_LOG_TOPIC, { group, since, until: "now", fleeting: true, signal }),
  );
  const opened = stack.move();
  return { reader, files: 0, summary: () => "", [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** A storage that does not answer for so long is for a person. */
const giveUpAfterMs = 300_000;

/** The files of an archive with records of a time, by `appendedAt` in ms. What cannot be read is said at once. */
export async function openArchiveSource(
  url: string,
  { from, to }: { readonly from: number; readonly to: number },
  { config, signal }: Pick<SourceOptions, "config" | "signal">,
): Promise<Source> {
  const storage = await openArchiveStorage(url, readConfig("replay", z.object(s3KeyFields)));
  let problems = 0;
  const reader = await openArchiveReader({
    storage,
    topic: config.EVENT_LOG_TOPIC,
    from,
    to,
    problem(name, what) {
      problems += 1;
      note(`${name}: ${what}`);
    },
    giveUpAfterMs,
    failing: (error) => note(`${errorLine(error)}; tried again`),
    signal,
  });
  return {
    reader,
    files: reader.files,
    summary: () => (problems === 0 ? "" : `; ${problems} FILES COULD NOT BE READ`),
    async [Symbol.asyncDispose]() {},
  };
}

/** Over a line that shows progress. */
function note(line: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}\n` : `${line}\n`);
}
