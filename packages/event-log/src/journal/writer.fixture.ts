// A writer that a test kills: appends for ever, in turns of many records, and says the last number that was
// acknowledged, by a synchronous write, so that what was said was acknowledged.
import { writeSync } from "node:fs";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { valueOf, writerDefaults } from "./trial.ts";
import { openJournalWriter } from "./writer.ts";

// With "paced", a reader can keep up and is at the tail all the time.
const [dir = "", run = "", bytes = "100", pace = ""] = process.argv.slice(2);
const deps = { log: silentLog, metrics: createMetrics() };
const writer = await openJournalWriter(dir, { ...writerDefaults, ...deps, segmentBytes: 256 * 1024, run });
let number = 0;

function turn(): void {
  for (let index = 0; index < 50; index += 1) {
    number += 1;
    const mine = number;
    writer.append({ key: "run", value: valueOf(mine, Number(bytes)) }, (error) => {
      if (error !== undefined) throw error;
      if (mine % 50 === 0) writeSync(1, `${mine}\n`);
    });
  }
  if (pace === "paced") setTimeout(turn, 1);
  else setImmediate(turn);
}

turn();
