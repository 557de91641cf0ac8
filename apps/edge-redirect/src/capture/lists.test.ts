import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { describe, expect, it } from "vitest";

import { openDataCentres, openSpamReferrers } from "./lists.ts";

describe("the networks of data centres", () => {
  it.each([
    ["D12", "Google", 15_169],
    ["D12", "Google Cloud", 396_982],
    ["", "Amazon", 16_509],
    ["", "Hetzner", 24_940],
  ])("%s have %s", async (_, _name, asn) => {
    expect((await openDataCentres())(asn)).toBe(true);
  });

  it.each([
    ["Apple's Private Relay by Cloudflare", 13_335],
    ["Apple's Private Relay by Akamai", 36_183],
    ["Akamai", 20_940],
    ["Apple's Private Relay by Fastly", 54_113],
    ["Apple", 714],
    ["a provider of homes", 3_320],
    ["what is not known", 0],
  ])("have not %s", async (_name, asn) => {
    expect((await openDataCentres())(asn)).toBe(false);
  });
});

describe("the hosts of spam referrers", () => {
  it("have names below them, and nobody else's that looks alike", async () => {
    const isSpam = await openSpamReferrers(undefined);
    for (const host of ["semalt.com", "www.semalt.com", "a.b.darodar.com"]) expect(isSpam(host)).toBe(true);
    for (const host of [
      "",
      "com",
      "notsemalt.com",
      "semalt.com.example",
      "www.google.com",
      "[2001:db8::1]",
    ]) {
      expect(isSpam(host)).toBe(false);
    }
  });

  it("are more with a list of one's own", async () => {
    await using dir = await tempDir();
    const path = join(dir.path, "spam.txt");
    await writeFile(path, "# ours\r\nSpam.Example\r\n\r\nother.example # for now\r\n");
    const isSpam = await openSpamReferrers(path);
    for (const host of ["spam.example", "www.other.example", "semalt.com"]) expect(isSpam(host)).toBe(true);
    expect(isSpam("ours")).toBe(false);
  });

  it("are asked for by name where the list cannot be read", async () => {
    const opening = openSpamReferrers("/nowhere/spam.txt");
    await expect(opening).rejects.toMatchObject({ code: "config" });
    await expect(opening).rejects.toThrow(/SPAM_REFERRERS_PATH.*nowhere/);
  });
});
