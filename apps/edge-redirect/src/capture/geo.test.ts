import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { unmap } from "../client/address.ts";
import { makeDatabase } from "../testing/mmdb.ts";
import { type Locate, openGeo } from "./geo.ts";

const folder = "@ip-location-db/geo-whois-asn-country-mmdb";
const fileOf = (name: string) => fileURLToPath(import.meta.resolve(`${folder}/${name}`));

const resources = new AsyncDisposableStack();
const open = (path?: string, asnPath?: string) =>
  openGeo({ path, asnPath, resources, log: silentLog, metrics: createMetrics(), replaced: () => {} });
let dir = "";
let locate: Locate;
beforeAll(async () => {
  dir = resources.use(await tempDir()).path;
  locate = await open();
});
afterAll(() => resources.disposeAsync());

async function file(name: string, ...database: Parameters<typeof makeDatabase>): Promise<string> {
  await writeFile(join(dir, name), makeDatabase(...database));
  return join(dir, name);
}

describe("the country of an address", () => {
  it.each([
    ["C9", "8.8.8.8", "US"],
    ["C10", "::ffff:123.202.30.78", "HK"],
    ["C10", "::ffff:132.170.200.83", "US"],
    ["C10", "::FFFF:8.8.8.8", "US"],
    ["C10", "::ffff:192.168.0.1", ""],
    ["C10", "::ffff:0:10.10.10.10", ""],
    ["C11", "2a00:1450:4001:c02::8a", "IE"],
    ["C11", "2600:1010:b00e:4658:488b:55d4:86a4:3c61", "US"],
    ["C14", "192.168.0.1", ""],
    ["C14", "10.1.2.3", ""],
    ["C14", "172.16.20.3", ""],
    ["C14", "172.31.255.255", ""],
    ["C14", "100.64.0.1", ""],
    ["C14", "127.0.0.1", ""],
    ["C14", "169.254.169.254", ""],
    ["C14", "0.0.0.0", ""],
    ["C14", "::", ""],
    ["C14", "::1", ""],
    ["C14", "fd00::1", ""],
    ["C14", "fe80::1", ""],
    ["C16", "", ""],
  ])("%s: of %s is %s", (_, address, country) => {
    expect(locate(unmap(address)).country).toBe(country);
  });

  it("C12: is unknown, and not another one, for IPv6 in an IPv4 database", async () => {
    const v4 = await open(fileOf("geo-whois-asn-country-ipv4.mmdb"));
    expect(v4("8.8.8.8").country).toBe("US");
    expect(v4("2a00:1450:4001:c02::8a").country).toBe("");
  });
});

describe("a place", () => {
  const city = {
    country: { iso_code: "DE" },
    subdivisions: [{ iso_code: "HE" }],
    city: { names: { en: "Kassel" } },
  };

  it("is country, region, city and network, in MaxMind's layout and in the flat one", async () => {
    const networks = {
      "8.8.8.0/24": city,
      "9.9.9.0/24": {
        country_code: "US",
        state1: "California",
        city: "Berkeley",
        autonomous_system_number: 19_281,
      },
    };
    const of = await open(await file("places.mmdb", networks));
    expect(of("8.8.8.8")).toMatchObject({ country: "DE", region: "HE", asn: 0 });
    expect(JSON.parse(`{${of("8.8.8.8").json}}`)).toEqual({ country: "DE", region: "HE", city: "Kassel" });
    expect(JSON.parse(`{${of("8.8.8.8").jsonWithoutCity}}`)).toMatchObject({ region: "HE", city: "" });
    expect(of("9.9.9.9")).toMatchObject({ country: "US", region: "California", asn: 19_281 });
  });

  it("has its network from a database of its own, where there is one", async () => {
    const places = await file("cities.mmdb", { "8.8.8.0/24": city, "2001:db8::/32": city });
    const asn = { "8.8.0.0/16": { autonomous_system_number: 15_169 } };
    const of = await open(places, await file("asn.mmdb", asn));
    expect(of("8.8.8.8")).toMatchObject({ country: "DE", asn: 15_169 });
    expect(of("8.8.9.9")).toMatchObject({ country: "", asn: 15_169 });
    expect(of("2001:db8::1")).toMatchObject({ country: "DE", asn: 0 });
    const v4 = await open(places, await file("asn4.mmdb", asn, 4));
    expect(v4("8.8.8.8").asn).toBe(15_169);
    expect(v4("2001:db8::1").asn).toBe(0);
  });

  it("is empty where the database says something else than text and numbers", async () => {
    const odd = {
      "8.8.8.0/24": { country: { iso_code: "Germany" }, city: ["x"], autonomous_system_number: "1" },
    };
    const { json, asn } = (await open(await file("odd.mmdb", odd)))("8.8.8.8");
    expect(JSON.parse(`{${json}}`)).toEqual({ country: "", region: "", city: "" });
    expect(asn).toBe(0);
  });
});
