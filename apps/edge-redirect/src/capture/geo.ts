import { fileURLToPath } from "node:url";

import { limits } from "@sluice/click-event/click-event.ts";
import { clip } from "@sluice/click-event/clip.ts";

import { isPublic } from "../client/address.ts";
import { type GeoDatabase, type GeoDatabaseOptions, openGeoDatabase } from "./geo-database.ts";

/** Where an address is; what is not known is empty or zero. */
export interface Place {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** ISO 3166-2 without its country, where the database has it. */
  readonly region: string;
  /** The network it belongs to. */
  readonly asn: number;
  /** Country, region and city as a part of a click's JSON. */
  readonly json: string;
  /** The same with the city left empty. */
  readonly jsonWithoutCity: string;
}

/** Takes an address as `unmap` gives it. */
export type Locate = (address: string) => Place;

const nowhere = readPlace({});

/** Country data for IPv4 and IPv6, under CC0; it comes with the dependencies, so that no set-up is needed. */
const defaultDatabase = "@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb";

export interface GeoOptions extends Omit<GeoDatabaseOptions, "variable" | "path"> {
  /** Of places; without one, the database that comes with Sluice. */
  readonly path: string | undefined;
  /** Of networks; without one, the first database is asked for them too. */
  readonly asnPath: string | undefined;
  readonly resources: AsyncDisposableStack;
}

/**
 * Opens the databases, as `openGeoDatabase` does, and leaves them with `resources`. MaxMind's own layout (GeoLite2,
 * GeoIP2: country, city, ASN) and the flat one of ip-location-db are understood.
 */
export async function openGeo({ path, asnPath, resources, ...options }: GeoOptions): Promise<Locate> {
  const open = async (variable: string, file: string): Promise<GeoDatabase> =>
    resources.use(await openGeoDatabase({ ...options, variable, path: file }));
  const places = await open("GEO_DB_PATH", path ?? fileURLToPath(import.meta.resolve(defaultDatabase)));
  const networks = asnPath === undefined ? undefined : await open("GEO_ASN_DB_PATH", asnPath);
  const read = new WeakMap<object, Place>();

  function placeOf(found: object): Place {
    const known = read.get(found);
    if (known !== undefined) return known;
    const place = readPlace(found);
    read.set(found, place);
    return place;
  }
  return (address) => {
    if (!isPublic(address)) return nowhere;
    const found = places.find(address);
    const place = found === null ? nowhere : placeOf(found);
    if (networks === undefined) return place;
    const network = networks.find(address);
    return { ...place, asn: network === null ? 0 : asnOf(network) };
  };
}

function readPlace(found: object): Place {
  const code = text(found, "country", "iso_code") || text(found, "country_code");
  const country = /^[A-Z]{2}$/.test(code) ? code : "";
  const region = clip(text(found, "subdivisions", "0", "iso_code") || text(found, "state1"), limits.region);
  const city = clip(text(found, "city", "names", "en") || text(found, "city"), limits.city);
  return {
    country,
    region,
    asn: asnOf(found),
    json: asJson({ country, region, city }),
    jsonWithoutCity: asJson({ country, region, city: "" }),
  };
}

function asJson(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}

function asnOf(found: object): number {
  const value = at(found, "autonomous_system_number");
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
