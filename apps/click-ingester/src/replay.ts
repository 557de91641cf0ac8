import { hostname } from "node:os";
import { parseArgs } from "node:util";
import { openErasures } from "@sluice/click-store/erasures.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { openRunChecks } from "@sluice/click-store/run-checks.ts";
import { readConfig } from "@sluice/service/config.ts";
import { createLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { Config } from "./config.ts";
import { createKnownErasures, whenKnown } from "./erasure/known-erasures.ts";
import { keepHeapSmall } from "@sluice/service/heap.ts";
import { openFanOutAgain, thenFanOut } from "./replay/fan-out-again.ts";
import { replayed } from "./replay/replayed.ts";
import { sayErrors } from "./replay/say-errors.ts";
import { showProgress } from "./replay/show-progress.ts";
import { openArchiveSource, openLogSource } from "./replay/source.ts";
import { timeOf, timeOptions } from "./replay/time-arguments.ts";
import { createEncoding } from "./store/encoding.ts";
import { ingest } from "./store/ingest.ts";
import { ingestMetrics } from "./store/metrics.ts";
import { prepare } from "./store/prepare.ts";
import { createRunNotes } from "./store/run-notes.ts";
import { createSliceStore } from "./store/store-slice.ts";
import { createTroubleWatch } from "./store/trouble.ts";

// What `sluice replay` runs: reads a time of the event log, or of an archive, into the tables again and ends.
// Configured as the service is, whose group it leaves alone.

keepHeapSmall(65);
sayErrors();
const { values } = parseArgs({
  options: {
    ...timeOptions,
    "fan-out": { type: "boolean" },
    "from-archive": { type: "string" },
  },
});
const config = readConfig("replay", Config);
const log = createLog("replay", "warn");
const registry = createMetrics();
const metrics = ingestMetrics(registry);
const stop = new AbortController();
// What is in hand is stored and committed first. A second time ends it at once, which loses nothing either.
process.once("SIGINT", () => stop.abort());
process.once("SIGTERM", () => stop.abort());

await using store = await openClickStore(config.CLICK_STORE_URL, {
  log,
  metrics: registry,
  owner: `${hostname()}/${process.pid}`,
});
await store.ping();
await using checks = await openRunChecks(config.CLICK_STORE_URL);
await using erasures = await openErasures(config.CLICK_STORE_URL);
const erased = createKnownErasures(erasures, stop.signal);

const topic = config.EVENT_LOG_TOPIC;
const range = timeOf(values);
const from = { config, log, metrics: registry, signal: stop.signal };
const archive = values["from-archive"];
await using source =
  archive === undefined ? await openLogSource(range, from) : await openArchiveSource(archive, range, from);

const origin = { log: config.EVENT_LOG_URL.slice(0, config.EVENT_LOG_URL.indexOf(":")), topic };
const encoding = createEncoding(store);
const trouble = createTroubleWatch({ metrics, log });
await using again = values["fan-out"]
  ? await openFanOutAgain({ config, log, metrics: registry, erased, signal: stop.signal })
  : undefined;
const replay = replayed(source.reader, { ...range, signal: stop.signal });
{
  using _ = showProgress(process.stderr, replay);
  await ingest({
    reader: again === undefined ? replay : thenFanOut(replay, again),
    want: () => ({
      minRecords: config.BATCH_MIN_ROWS,
      // What a second may have, or less than that.
      maxRecords: Math.min(config.BATCH_MAX_ROWS, range.rate),
      maxBytes: config.BATCH_MAX_BYTES,
      maxWaitMs: config.BATCH_MAX_WAIT_MS,
    }),
    prepare: async (records, lost) =>
      prepare(records, {
        origin,
        encoding,
        cover: await whenKnown(erased, lost, (each) => trouble.seen(each)),
      }),
    slices: createSliceStore({
      // The live group stores clicks of the same runs: whatever the number, it may be there, and is looked up.
      table: { ...store, highestStored: async () => Infinity },
      runs: createRunNotes(checks),
      erasures,
      origin,
      trouble,
      metrics,
    }),
    maxSliceRecords: 12_500,
    metrics,
    log,
  });
}
const [rows, found, letters, leftOut] = await Promise.all(
  [metrics.rows, metrics.found, metrics.deadLetters, metrics.erased].map(async (counter) =>
    (await counter.get()).values.reduce((sum, { value }) => sum + value, 0),
  ),
);
process.stdout.write(
  `${replay.records()} records read, ${found} clicks stored already, ${rows} stored now, ${letters} dead letters` +
    (leftOut === 0 ? "" : `, ${leftOut} left out that were erased`) +
    (again === undefined ? "" : `, ${again.passedOn()} passed on`) +
    source.summary() +
    (stop.signal.aborted ? "; stopped before the end\n" : "\n"),
);
if (stop.signal.aborted || source.summary() !== "") process.exitCode = 1;
