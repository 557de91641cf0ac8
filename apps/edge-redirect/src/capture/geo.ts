import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { limits } from "@sluice/click-event/click-event.ts";
import { ServiceError } from "@sluice/service/service-error.ts";
import { LRUCache } from "lru-cache";
import { Reader, type Response } from "maxmind";

import { clip } from "@sluice/click-event/clip.ts";

/**
 * Where an address is, as the part of a click's JSON that says so; what is not known is empty or zero. Takes an
 * address as `unmap` gives it.
 */
export type Locate = (address: string) => string;

const nowhere = encodePlace({});

/** Country data for IPv4 and IPv6, under CC0; it comes with the dependencies, so that no set-up is needed. */
const defaultDatabase = "@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb";
/** Places are few beside addresses: 250 countries, some 100,000 cities. */
const maxPlaces = 20_000;

/**
 * Private, carrier-grade NAT, loopback and link-local addresses (RFC 6890): some databases say a country for them.
 */
const notPublic =
  /^(?:10|127)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^::1$|^f[cd]|^fe[89ab]/i;

/**
 * Opens a MaxMind database; without a path, the one that comes with Sluice. MaxMind's own layout (GeoLite2,
 * GeoIP2: country, city, ASN) and the flat one of ip-location-db are understood. Rejects with a ServiceError
 * `config` when the file is missing or no such database. The whole file is held in memory.
 */
export async function openGeo(path: string | undefined): Promise<Locate> {
  const reader = await openDatabase(path ?? fileURLToPath(import.meta.resolve(defaultDatabase)));
  // An IPv4 database answers an IPv6 address too, with some other country.
  const knowsV6 = reader.metadata.ipVersion === 6;
  const encoded = new WeakMap<object, string>();
  return (address) => {
    if (address === "" || notPublic.test(address) || (!knowsV6 && address.includes(":"))) return nowhere;
    const found = reader.get(address);
    if (found === null) return nowhere;
    // The reader's cache gives the same object for the same place.
    const known = encoded.get(found);
    if (known !== undefined) return known;
    const json = encodePlace(found);
    encoded.set(found, json);
    return json;
  };
}

async function openDatabase(file: string): Promise<Reader<Response>> {
  try {
    const reader = new Reader<Response>(await readFile(file), { cache: new LRUCache({ max: maxPlaces }) });
    // A file that was cut short opens well and fails at the first visitor.
    for (const address of ["0.0.0.0", "8.8.8.8", "255.255.255.255"]) reader.get(address);
    return reader;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError(
      "config",
      `GEO_DB_PATH: takes a MaxMind database (.mmdb), ${file} is none: ${reason}`,
      { cause: error },
    );
  }
}

/** `::ffff:192.0.2.1`, which is how a socket open to both kinds names an IPv4 visitor, as `192.0.2.1`. */
export function unmap(address: string): string {
  return /^::ffff:\d/i.test(address) ? address.slice("::ffff:".length) : address;
}

function encodePlace(found: object): string {
  const country = text(found, "country", "iso_code") || text(found, "country_code");
  const place = {
    country: /^[A-Z]{2}$/.test(country) ? country : "",
    region: clip(text(found, "subdivisions", "0", "iso_code") || text(found, "state1"), limits.region),
    city: clip(text(found, "city", "names", "en") || text(found, "city"), limits.city),
    asn: asnOf(at(found, "autonomous_system_number")),
  };
  return JSON.stringify(place).slice(1, -1);
}

function asnOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff
    ? value
    : 0;
}

function text(value: unknown, ...path: string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

function at(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}
