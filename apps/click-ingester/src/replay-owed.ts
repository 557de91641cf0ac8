import { parseArgs } from "node:util";
import { openErasures } from "@sluice/click-store/erasures.ts";
import { openStoredClicks } from "@sluice/click-store/stored-clicks.ts";
import { noteGiven, readOwed } from "@sluice/event-log/journal-owed.ts";
import { parseJournalUrl } from "@sluice/event-log/journal-url.ts";
import { readConfig } from "@sluice/service/config.ts";
import { createLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { Config } from "./config.ts";
import { createKnownErasures } from "./erasure/known-erasures.ts";
import { openFanOutAgain } from "./replay/fan-out-again.ts";
import { giveOwed } from "./replay/owed.ts";
import { showProgress } from "./replay/show-progress.ts";

// What `sluice replay --fan-out --owed` runs: passes on, from the table, what the journal had no room to hold until it
// was fanned out. Configured as the service is.

const { values } = parseArgs({ options: { rate: { type: "string" }, "dry-run": { type: "boolean" } } });
const dryRun = values["dry-run"] === true;
const config = readConfig("replay", Config);
const log = createLog("replay", "warn");
const registry = createMetrics();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
process.once("SIGTERM", () => stop.abort());
const { signal } = stop;

const { dir } = parseJournalUrl(config.EVENT_LOG_URL);
const { EVENT_LOG_TOPIC: topic, FANOUT_GROUP: group } = config;
await using clicks = await openStoredClicks(config.CLICK_STORE_URL);
await using erasures = await openErasures(config.CLICK_STORE_URL);
const erased = createKnownErasures(erasures, signal);
await using again = await openFanOutAgain({ config, log, metrics: registry, erased, dryRun, signal });
const owed = await readOwed(dir, topic, group);
const giving = giveOwed(owed, {
  clicks,
  again,
  given: async (notes) => {
    if (!dryRun) await noteGiven(dir, topic, group, notes);
  },
  rate: values.rate === undefined ? Infinity : Number(values.rate),
  signal,
});
{
  using _ = showProgress(process.stderr, giving);
  await giving.done;
}
process.stdout.write(
  `${owed.length} ranges owed, ${giving.records()} clicks of them in the table, ` +
    `${again.passedOn()} ${dryRun ? "would be passed on" : "passed on"}` +
    (giving.unknown === 0 ? "" : `; ${giving.unknown} ranges are of no edge, and stay owed`) +
    (signal.aborted ? "; stopped before the end\n" : "\n"),
);
if (signal.aborted) process.exitCode = 1;
