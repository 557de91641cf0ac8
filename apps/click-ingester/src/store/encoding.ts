import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import type { ScannedClick } from "@sluice/click-event/scanned-click.ts";
import type { ClickRow, ClickStore } from "@sluice/click-store/click-store.ts";

/** How clicks become rows of a store. */
export interface Encoding {
  readonly encode: (event: ClickEvent) => ClickRow;
  /** The same of a click that is still in its record; without it each record is decoded. */
  readonly encodeScanned?: (click: ScannedClick) => ClickRow;
}

/** As many user agents as a day has in common use; one costs about 1 kB. */
const cacheSize = 10_000;

/** Enriches each click on its way. */
export function createEncoding(store: Pick<ClickStore, "encodeClick" | "encodeScanned">): Encoding {
  const enrich = createEnricher({ cacheSize });
  const { encodeClick, encodeScanned } = store;
  return {
    encode: (event) => encodeClick(event, enrich(event)),
    ...(encodeScanned !== undefined && {
      encodeScanned: (click: ScannedClick) => encodeScanned(click, enrich(click)),
    }),
  };
}
