import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";

/** As the ingester stores them. */
export async function storeClicks(url: string, events: readonly ClickEvent[]): Promise<void> {
  await using clicks = await openClickStore(url, { log: silentLog, metrics: createMetrics() });
  const enrich = createEnricher({ cacheSize: 10 });
  const rows = events.map((event) => clicks.encodeClick(event, enrich(event)));
  await clicks.insertClicks(rows, { signal: new AbortController().signal, onTrouble: () => {} });
}
