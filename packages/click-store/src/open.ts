import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import type { ClickStore } from "./click-store.ts";
import { storeKind } from "./store-kind.ts";

export interface OpenClickStoreOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Names this process in the server's list of what it is doing. */
  readonly owner?: string;
}

/**
 * Opens the click store that the URL names; only that adapter's driver is loaded. Does not ask for the server, which
 * may be away. Rejects only for a URL that cannot be one.
 */
export async function openClickStore(url: string, options: OpenClickStoreOptions): Promise<ClickStore> {
  if (storeKind(url) === "Postgres") {
    const { openPostgresStore } = await import("./postgres/open.ts");
    return openPostgresStore(url, options);
  }
  const { openClickHouse } = await import("./clickhouse/open.ts");
  return openClickHouse(url, options);
}
