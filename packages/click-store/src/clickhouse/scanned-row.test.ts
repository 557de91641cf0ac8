import { ClickEvent, clickIdNames, clientHintNames } from "@sluice/click-event/click-event.ts";
import { encodeClick } from "@sluice/click-event/encode.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { ClickScanner } from "@sluice/click-event/scan.ts";
import { clickEvents } from "@sluice/click-event/testing/arbitrary.ts";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Line } from "../body.ts";
import { clickValues } from "../click-columns.ts";
import { createRowWriter } from "./native-row.ts";
import { sentColumns } from "./queries/click-events.ts";
import { createScannedRowWriter } from "./scanned-row.ts";

it("the row of a click in its record is the row of the click", () => {
  const scan = new ClickScanner();
  const enrich = createEnricher({ cacheSize: 1 });
  const write = createRowWriter(sentColumns);
  const writeScanned = createScannedRowWriter(sentColumns);
  let compared = 0;
  fc.assert(
    fc.property(clickEvents.map(inOrder), (event) => {
      if (!scan.read(encodeClick(event))) return;
      compared += 1;
      const enrichment = enrich(event);
      expect(bytesOf(writeScanned(scan, enrichment))).toEqual(bytesOf(write(clickValues(event, enrichment))));
    }),
    { numRuns: 1_000 },
  );
  expect(compared).toBeGreaterThan(100);
});

/** The pairs of a map in the schema's order, which the scanner gives them in. */
function inOrder(event: ClickEvent): ClickEvent {
  return {
    ...event,
    // Quotes are escaped in a record.
    city: `"${event.city.slice(0, 20).toWellFormed()}\\"`,
    client_hints: pick(event.client_hints, clientHintNames),
    click_ids: pick(event.click_ids, clickIdNames),
  };
}

function pick(map: Readonly<Record<string, string>>, names: readonly string[]) {
  return Object.fromEntries(names.flatMap((name) => (map[name] === undefined ? [] : [[name, map[name]]])));
}

function bytesOf({ block, start, end }: Line): Buffer {
  return block.subarray(start, end);
}
