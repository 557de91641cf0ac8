import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Locate, openGeo, unmap } from "./geo.ts";

const folder = "@ip-location-db/geo-whois-asn-country-mmdb";
const fileOf = (name: string) => fileURLToPath(import.meta.resolve(`${folder}/${name}`));

let locate: Locate;
let dir = "";
beforeAll(async () => {
  locate = await openGeo(undefined);
  dir = await mkdtemp(join(tmpdir(), "edge-geo-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

function countryOf(address: string, by = locate): unknown {
  const place: unknown = JSON.parse(`{${by(unmap(address))}}`);
  return typeof place === "object" && place !== null && "country" in place ? place.country : undefined;
}

describe("the country of an address", () => {
  it.each([
    ["8.8.8.8", "US"],
    // C10
    ["::ffff:123.202.30.78", "HK"],
    ["::FFFF:8.8.8.8", "US"],
    // C11
    ["2a00:1450:4001:c02::8a", "IE"],
    ["2600:1010:b00e:4658:488b:55d4:86a4:3c61", "US"],
    // C14
    ["192.168.0.1", ""],
    ["::ffff:192.168.0.1", ""],
    ["10.1.2.3", ""],
    ["172.16.20.3", ""],
    ["172.31.255.255", ""],
    ["100.64.0.1", ""],
    ["127.0.0.1", ""],
    ["::1", ""],
    ["fd00::1", ""],
    ["fe80::1", ""],
    ["", ""],
  ])("of %s is %s", (address, country) => {
    expect(countryOf(address)).toBe(country);
  });

  it("C12: is unknown, and not another one, for IPv6 in an IPv4 database", async () => {
    const v4 = await openGeo(fileOf("geo-whois-asn-country-ipv4.mmdb"));
    expect(countryOf("8.8.8.8", v4)).toBe("US");
    expect(countryOf("2a00:1450:4001:c02::8a", v4)).toBe("");
  });
});

describe("a database that is none", () => {
  it("names the variable and the path when it is missing", async () => {
    await expect(openGeo(join(dir, "no.mmdb"))).rejects.toThrow(/GEO_DB_PATH.*no\.mmdb/);
  });

  it.each([
    ["empty", () => Buffer.alloc(0)],
    ["something else", () => Buffer.alloc(100_000, "text")],
    ["cut short", (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    [
      "without its middle",
      (whole: Buffer) => Buffer.concat([whole.subarray(0, 1000), whole.subarray(-2000)]),
    ],
  ])("is refused at the start when it is %s", async (what, make) => {
    const path = join(dir, `${what}.mmdb`);
    await writeFile(path, make(await readFile(fileOf("geo-whois-asn-country.mmdb"))));
    await expect(openGeo(path)).rejects.toMatchObject({ code: "config" });
  });
});
