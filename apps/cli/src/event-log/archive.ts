import { archiveTopic, maxFileBytes } from "@sluice/event-log/archive-topic.ts";
import { openArchiveStorage } from "@sluice/event-log/archive-storage.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { createHealth } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { createMetrics, type Metrics } from "@sluice/service/metrics.ts";
import { openOpsServer } from "@sluice/service/ops-server.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";

export interface ArchiveOptions {
  readonly topic: string;
  readonly group: string;
  readonly follow?: boolean;
  /** In seconds, how long the first record of a file waits for others while following. */
  readonly maxAge: number;
  /** In KiB, before compression. */
  readonly fileSize: number;
  /** Where what follows says how it is. */
  readonly opsPort?: number;
}

/** A storage that is down for so long is for a person, or for the next run of a timer; what follows tries without end. */
const giveUpAfterMs = 300_000;

/** Copies what the group has not read yet into an archive, up to now or on and on. */
export async function archive(context: Context, url: string, options: ArchiveOptions): Promise<void> {
  const { addresses, log, print, note } = context;
  const { topic, group, follow = false, maxAge, fileSize } = options;
  const maxBytes = fileSize * 1_024;
  if (maxBytes > maxFileBytes)
    throw new ServiceError("config", `--file-size takes 1 to ${maxFileBytes / 1_024} KiB, got ${fileSize}`);
  const logUrl = await addresses.eventLogUrl();
  mustBeHeldFor(logUrl, group);
  const storage = await openArchiveStorage(url, addresses.s3Keys());
  using stop = stopSignal();
  const { signal } = stop;
  await using telling = await openTelling(context, options);
  const { metrics, health } = telling;
  await using events = await openEventLog(logUrl, { log, metrics });
  health.check("event-log", () => events.ping());
  await using reader = await events.open(topic, { group, signal, ...(!follow && { until: "now" }) });
  health.ready();
  let files = 0;
  let records = 0;
  let tooLarge = 0;
  let said = "";
  try {
    await archiveTopic({
      reader,
      storage,
      topic,
      maxBytes,
      maxWaitMs: maxAge * 1_000,
      giveUpAfterMs: follow ? Infinity : giveUpAfterMs,
      failing(error) {
        // Once, not at every try.
        if (errorLine(error) !== said) note(`sluice: ${errorLine(error)}; tried again`);
        said = errorLine(error);
        health.degraded("archive", said);
      },
      archived(file, seal, leftOut) {
        said = "";
        health.degraded("archive", undefined);
        files += 1;
        records += seal.records;
        tooLarge += leftOut.length;
        if (follow) print(`${file}: ${seal.records} records, ${seal.bytes} bytes`);
        for (const id of leftOut) note(`sluice: record ${id} is larger than a file of an archive can hold`);
      },
      log,
      signal,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const gone = await goneRecords(metrics);
  print(
    `${records} records archived in ${files} files` +
      (tooLarge === 0 ? "" : `, ${tooLarge} left out as too large`) +
      (gone === 0 ? "" : `, ${gone} gone from the log before they were read`) +
      (signal.aborted && !follow ? "; stopped before the end" : ""),
  );
  if (tooLarge > 0 || gone > 0 || (signal.aborted && !follow)) process.exitCode = 1;
}

/** What Prometheus asks an archiver that follows; nobody could ask one that ends by itself. */
async function openTelling({ addresses, log, note }: Context, { opsPort, follow = false }: ArchiveOptions) {
  const metrics = createMetrics({ ofProcess: opsPort !== undefined });
  const health = createHealth({ log, metrics });
  if (opsPort === undefined) return { metrics, health, [Symbol.asyncDispose]: async () => {} };
  if (!follow) throw new ServiceError("config", "--ops-port goes with --follow");
  const server = await openOpsServer({ host: addresses.opsHost, port: opsPort, health, metrics });
  note(`metrics are at port ${server.port}`);
  return { metrics, health, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** What a Redis stream does not hold for a group is gone once the others have read it, and nobody could tell. */
function mustBeHeldFor(logUrl: string, group: string): void {
  if (!logUrl.startsWith("redis")) return;
  const [, written = ""] = /[?&]groups=([^&]*)/.exec(logUrl) ?? [];
  const groups = written === "" ? [] : decodeURIComponent(written).split(",");
  if (groups.includes(group)) return;
  throw new ServiceError(
    "config",
    `a Redis stream keeps nothing for the group "${group}": EVENT_LOG_URL must say groups=${[...groups, group].join(",")} ` +
      `instead of "${written}", here and for every edge and ingester; ` +
      `with Docker Compose it is SLUICE_EVENT_LOG_URL in .env, then "docker compose up -d"`,
  );
}

/** Aborts at Ctrl-C and when asked to end. What is not in the manifest by then is read again the next time. */
function stopSignal(): Disposable & { readonly signal: AbortSignal } {
  const stop = new AbortController();
  const abort = () => stop.abort();
  const signals = ["SIGINT", "SIGTERM"];
  for (const name of signals) process.once(name, abort);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      for (const name of signals) process.off(name, abort);
    },
  };
}

/** As the adapters count them. */
async function goneRecords(metrics: Metrics): Promise<number> {
  const { body } = await metrics.render();
  const counts = body.matchAll(/^(?:event_log|journal)_skipped_records_total(?:\{.*\})? (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
