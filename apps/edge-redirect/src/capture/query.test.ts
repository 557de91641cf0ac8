import { limits } from "@sluice/click-event/click-event.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { encodeQuery } from "./query.ts";

function read(query: string): unknown {
  return JSON.parse(`{${encodeQuery(query)}}`);
}
const utm = { source: "", medium: "", campaign: "", term: "", content: "" };

describe("what an event keeps of a query string", () => {
  it("is nothing of an empty one", () => {
    expect(read("")).toEqual({ qr: false, utm, click_ids: {} });
  });

  it("is campaign and click ids, decoded as a form means them", () => {
    expect(read("utm_source=news&utm_campaign=caf%C3%A9+au%20lait&gclid=a-b_c&x=y&utm_medium=")).toEqual({
      qr: false,
      utm: { ...utm, source: "news", campaign: "café au lait" },
      click_ids: { gclid: "a-b_c" },
    });
  });

  it("is the first of several values, whatever the case of the name", () => {
    expect(read("UTM_Source=a&utm_source=b")).toMatchObject({ utm: { source: "a" } });
  });

  it("is the text as it came where it cannot be decoded", () => {
    expect(read("utm_source=100%&utm_term=%C0%80")).toMatchObject({
      utm: { source: "100%", term: "%C0%80" },
    });
  });

  it("is no click id of a visitor who asks not to be tracked", () => {
    expect(JSON.parse(`{${encodeQuery("gclid=a&utm_source=b&qr=1", true)}}`)).toEqual({
      qr: true,
      utm: { ...utm, source: "b" },
      click_ids: {},
    });
  });

  it("says whether a QR code was read", () => {
    for (const mark of ["qr=1", "QR=True", "a=b&qr=1"]) expect(read(mark)).toMatchObject({ qr: true });
    for (const none of ["qr=0", "qr=10", "qr", "iqr=1"]) expect(read(none)).toMatchObject({ qr: false });
  });

  it("is cut to its limit without splitting a character", () => {
    const long = `${"a".repeat(limits.utm - 1)}😀`;
    expect(read(`utm_source=${encodeURIComponent(long)}`)).toMatchObject({
      utm: { source: "a".repeat(limits.utm - 1) },
    });
  });

  it("never fails and is always JSON, whatever the query", () => {
    const pieces = fc.constantFrom(
      "utm_source",
      "gclid",
      "qr",
      "=",
      "&",
      "%",
      "%E2",
      "%00",
      "+",
      '"',
      "\\",
      "é",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 20 }), (parts) => {
        expect(read(parts.join(""))).toHaveProperty("utm");
      }),
    );
  });
});
