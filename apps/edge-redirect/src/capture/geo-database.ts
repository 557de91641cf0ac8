import { readFile } from "node:fs/promises";

import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { ServiceError } from "@sluice/service/service-error.ts";
import { LRUCache } from "lru-cache";
import { Reader, type Response } from "maxmind";

import { trackFile } from "./tracked-file.ts";

/** What a MaxMind database knows, as its file says now. */
export interface GeoDatabase extends AsyncDisposable {
  /** The same object for the same place. `null` for an IPv6 address in an IPv4 database, which would answer wrongly. */
  find(address: string): object | null;
}

export interface GeoDatabaseOptions {
  /** The setting that the path came from. */
  readonly variable: string;
  readonly path: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called when another file has been taken into use. */
  readonly replaced: () => void;
  /** How often the file is looked at; a file is taken once it looks the same twice. */
  readonly everyMs?: number;
}

/** Databases are made once a day at most. */
const defaultEveryMs = 5_000;
/** Places are few beside addresses: 250 countries, some 100,000 cities. */
const maxPlaces = 20_000;

/**
 * Opens a database and holds all of it in memory. Rejects with a ServiceError `config` when the file is missing or none.
 * A file that takes its place, or is written over, is taken into use without a restart; one that is broken is counted,
 * said once and left alone until it changes again, and the old one stays.
 */
export async function openGeoDatabase(options: GeoDatabaseOptions): Promise<GeoDatabase> {
  const { variable, path, log, replaced, everyMs = defaultEveryMs } = options;
  const reloads = options.metrics.counter(
    "edge_geo_files_total",
    "New files of a geo database, by what became of them",
    ["database", "outcome"],
  );
  let reader = await read(path, variable);
  let looking: Promise<void> | undefined;
  const look = await trackFile(path, async () => {
    try {
      reader = await read(path, variable);
      reloads.inc({ database: variable, outcome: "used" });
      log.info({ variable }, "a new geo database is in use");
      replaced();
    } catch (error) {
      reloads.inc({ database: variable, outcome: "refused" });
      log.warn({ error }, "a new geo database is broken: the one before stays in use");
    }
  });
  const timer = setInterval(() => {
    looking ??= look().finally(() => (looking = undefined));
  }, everyMs).unref();

  return {
    find: (address) =>
      reader.metadata.ipVersion !== 6 && address.includes(":") ? null : reader.get(address),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
    },
  };
}

async function read(path: string, variable: string): Promise<Reader<Response>> {
  try {
    const reader = new Reader<Response>(await readFile(path), { cache: new LRUCache({ max: maxPlaces }) });
    // A file that was cut short opens well and fails at the first visitor.
    for (const address of ["0.0.0.0", "8.8.8.8", "255.255.255.255"]) reader.get(address);
    return reader;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError(
      "config",
      `${variable}: takes a MaxMind database (.mmdb), ${path} is none: ${reason}`,
      { cause: error },
    );
  }
}
