import { once } from "node:events";
import { open as openFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { makeDatabase } from "../testing/mmdb.ts";
import { type GeoDatabase, openGeoDatabase } from "./geo-database.ts";

const whole = fileURLToPath(
  import.meta.resolve("@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb"),
);
const databaseOf = (country: string) => makeDatabase({ "8.8.8.0/24": { country_code: country } });

let stack: AsyncDisposableStack;
let path = "";
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  path = join(stack.use(await tempDir()).path, "geo.mmdb");
});
afterEach(() => stack.disposeAsync());

/** A database at `path`, looked at every few milliseconds, and what has become of new files. */
async function watched() {
  await writeFile(path, databaseOf("DE"));
  const events = new EventTarget();
  const said: string[] = [];
  const metrics = createMetrics();
  const database = stack.use(
    await openGeoDatabase({
      variable: "GEO_DB_PATH",
      path,
      metrics,
      log: {
        ...silentLog,
        warn: (_fields, message) => {
          said.push(message);
          events.dispatchEvent(new Event("refused"));
        },
      },
      replaced: () => events.dispatchEvent(new Event("used")),
      everyMs: 10,
    }),
  );
  return { database, said, metrics, until: (what: "used" | "refused") => once(events, what) };
}

function countryOf(database: GeoDatabase): unknown {
  return database.find("8.8.8.8");
}

describe("C17: a new database file", () => {
  it("that is renamed into place is taken into use", async () => {
    const { database, until } = await watched();
    await writeFile(`${path}.new`, databaseOf("FR"));
    const used = until("used");
    await rename(`${path}.new`, path);
    await used;
    expect(countryOf(database)).toEqual({ country_code: "FR" });
  });

  it("that is written over the old one, bit by bit, is taken into use once it is whole", async () => {
    const { database, until, metrics } = await watched();
    const bytes = databaseOf("IT");
    const used = until("used");
    await using file = await openFile(path, "w");
    for (let at = 0; at < bytes.length; at += 64) await file.write(bytes.subarray(at, at + 64));
    await used;
    expect(countryOf(database)).toEqual({ country_code: "IT" });
    expect((await metrics.render()).body).toContain('{database="GEO_DB_PATH",outcome="used"} 1');
  });

  it("that is broken, or is deleted, leaves the old one in use, is counted, and is said once", async () => {
    const { database, until, said, metrics } = await watched();
    let refused = until("refused");
    await writeFile(`${path}.new`, "no database");
    await rename(`${path}.new`, path);
    await refused;
    expect(countryOf(database)).toEqual({ country_code: "DE" });
    refused = until("refused");
    await rm(path);
    await refused;
    expect(countryOf(database)).toEqual({ country_code: "DE" });
    const used = until("used");
    await writeFile(path, databaseOf("AT"));
    await used;
    expect(countryOf(database)).toEqual({ country_code: "AT" });
    expect(said).toHaveLength(2);
    expect((await metrics.render()).body).toContain('{database="GEO_DB_PATH",outcome="refused"} 2');
  });
});

function openIt(): Promise<GeoDatabase> {
  return openGeoDatabase({
    variable: "GEO_DB_PATH",
    path,
    log: silentLog,
    metrics: createMetrics(),
    replaced: () => {},
  });
}

describe("a database that is none", () => {
  it("names the variable and the path when it is missing", async () => {
    await expect(openIt()).rejects.toThrow(/GEO_DB_PATH.*geo\.mmdb/);
  });

  it.each([
    ["empty", () => Buffer.alloc(0)],
    ["something else", () => Buffer.alloc(100_000, "text")],
    ["cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    [
      "without its middle",
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 1000), bytes.subarray(-2000)]),
    ],
  ])("is refused at the start when it is %s", async (_what, make) => {
    await writeFile(path, make(await readFile(whole)));
    await expect(openIt()).rejects.toMatchObject({ code: "config" });
  });
});
