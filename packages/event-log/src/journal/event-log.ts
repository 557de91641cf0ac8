import { randomUUID } from "node:crypto";
import { access, constants, mkdir } from "node:fs/promises";
import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { type EventLog, EventLogError, type NewRecord, type OpenOptions, type Reader } from "../event-log.ts";
import { isNoRoom, toEventLogError } from "./fs-errors.ts";
import { topicDir } from "./layout.ts";
import { JournalReader } from "./reader.ts";
import { isTooLarge } from "./record.ts";
import { type JournalSettings, parseJournalUrl } from "./url.ts";
import { type JournalWriter, openJournalWriter } from "./writer.ts";

interface Deps {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The journal as an event log: `append` begins a run of its own at the first record of a topic. */
export async function openJournalEventLog(url: string, deps: Deps): Promise<EventLog> {
  const settings = parseJournalUrl(url);
  try {
    await mkdir(settings.dir, { recursive: true });
    await access(settings.dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!isNoRoom(error)) throw toEventLogError(error, `${settings.dir} cannot be used`);
  }
  return new JournalEventLog(settings, deps);
}

class JournalEventLog implements EventLog {
  readonly #settings: JournalSettings;
  readonly #deps: Deps;
  readonly #writers = new Map<string, Promise<JournalWriter>>();
  readonly #readers = new Set<Reader>();
  #closed = false;

  constructor(settings: JournalSettings, deps: Deps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  async append(topic: string, records: readonly NewRecord[]): Promise<void> {
    this.#mustBeOpen();
    const indexes = records.flatMap(({ key, value }, index) =>
      isTooLarge(Buffer.byteLength(key), value.length) ? [index] : [],
    );
    if (indexes.length > 0) {
      throw new EventLogError("too-large", `journal: ${indexes.length} records of ${topic} are too large`, {
        indexes,
      });
    }
    if (records.length === 0) return;
    const writer = await this.#writer(topic);
    await new Promise<void>((resolve, reject) => {
      let open = records.length;
      let failure: EventLogError | undefined;
      for (const record of records) {
        writer.append(record, (error) => {
          failure ??= error;
          open -= 1;
          if (open > 0) return;
          if (failure === undefined) resolve();
          else reject(failure);
        });
      }
    });
  }

  async open(topic: string, options: OpenOptions): Promise<Reader> {
    this.#mustBeOpen();
    const folder = topicDir(this.#settings.dir, topic);
    try {
      const { deadAfterMs } = this.#settings;
      const reader = await JournalReader.open(folder, { topic, ...options, deadAfterMs, ...this.#deps });
      this.#readers.add(reader);
      return reader;
    } catch (error) {
      throw toEventLogError(error, `${folder} cannot be read`);
    }
  }

  async ping(): Promise<void> {
    this.#mustBeOpen();
    try {
      await access(this.#settings.dir, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw toEventLogError(error, `${this.#settings.dir} cannot be used`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const reader of this.#readers) await reader[Symbol.asyncDispose]();
    // A writer that could not be opened has told whoever appended.
    for (const result of await Promise.allSettled(this.#writers.values())) {
      if (result.status === "fulfilled") await result.value[Symbol.asyncDispose]();
    }
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new EventLogError("closed", "journal: the event log is closed");
  }

  async #writer(topic: string): Promise<JournalWriter> {
    let writer = this.#writers.get(topic);
    if (writer === undefined) {
      const { dir, ...settings } = this.#settings;
      // Names of runs begin with the time, so that they are read in order.
      const run = `${Date.now().toString().padStart(15, "0")}-${randomUUID()}`;
      writer = openJournalWriter(dir, { topic, run, ...settings, ...this.#deps });
      this.#writers.set(topic, writer);
      // The next append tries again.
      writer.catch(() => this.#writers.delete(topic));
    }
    return await writer;
  }
}
