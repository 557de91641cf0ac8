import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClickEvent, limits } from "./click-event.ts";
import { type Decoded, decodeRecord } from "./decode.ts";
import { encodeClick, encodeRefusedRange } from "./encode.ts";
import { clickEvents, refusedRanges } from "./testing/arbitrary.ts";
import { sampleClick } from "./testing/sample.ts";

/** As a record of whatever is given would decode. */
function decodeJson(value: unknown): Decoded {
  return decodeRecord(Buffer.from(JSON.stringify(value) ?? ""));
}

function decodeText(text: string): Decoded {
  return decodeRecord(Buffer.from(text));
}

describe("what was encoded", () => {
  test("comes back as the same click", () => {
    fc.assert(
      fc.property(clickEvents, (event) => {
        expect(decodeRecord(encodeClick(event))).toEqual({ kind: "click", event });
      }),
    );
  });

  test("comes back as the same refused range", () => {
    fc.assert(
      fc.property(refusedRanges, (range) => {
        expect(decodeRecord(encodeRefusedRange(range))).toEqual({ kind: "refused-range", range });
      }),
    );
  });
});

describe("what nobody encoded", () => {
  test("is undecodable for any bytes, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        expect(decodeRecord(bytes).kind).toBe("undecodable");
      }),
    );
  });

  test("keeps its number when it is undecodable, as far as it has one", () => {
    expect(decodeText('{"v":2,"edge_seq":7}')).toMatchObject({ kind: "undecodable", number: 7 });
    for (const text of [
      '{"edge_seq":7',
      '{"v":1,"edge_seq":"7"}',
      '{"edge_seq":0}',
      '{"edge_seq":1.5}',
      "[7]",
    ])
      expect(decodeText(text)).toMatchObject({ kind: "undecodable", number: 0 });
  });

  test("is undecodable for any JSON, with a short detail", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const decoded = decodeJson(value);
        expect(decoded.kind).toBe("undecodable");
        expect(detailOf(decoded).length).toBeLessThan(300);
      }),
    );
  });

  test("is what the schema makes of it when one field of a click has any other value", () => {
    const fields = fc.constantFrom(
      ...Object.keys(ClickEvent.shape).filter((name) => name !== "v"),
      ...["source", "term"].map((name) => `utm.${name}`),
      ...["gclid", "li_fat_id", "another"].map((name) => `click_ids.${name}`),
      "client_hints.model",
      "another",
      "__proto__",
    );
    const values = fc.oneof(
      { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
      { weight: 3, arbitrary: fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true })) },
      { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 600, size: "max" }) },
      { weight: 2, arbitrary: fc.constantFrom("\ud800", "x\udfffx", undefined, -0, 0, 1, 302, "", "GET") },
    );
    fc.assert(
      fc.property(clickEvents, fields, values, (event, field, value) => {
        const changed: unknown = JSON.parse(JSON.stringify(withField(event, field, value)));
        const decoded = decodeJson(changed);
        expect(decoded.kind === "click" ? decoded.event : undefined).toEqual(
          ClickEvent.safeParse(changed).data,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test("is a whole click or none when bytes of a click are changed, cut or doubled", () => {
    const damage = fc.record({
      at: fc.nat(),
      with: fc.uint8Array({ maxLength: 4 }),
      over: fc.nat({ max: 4 }),
    });
    fc.assert(
      fc.property(clickEvents, damage, (event, { at, with: other, over }) => {
        const bytes = encodeClick(event);
        const from = at % bytes.length;
        const decoded = decodeRecord(
          Buffer.concat([bytes.subarray(0, from), other, bytes.subarray(from + over)]),
        );
        const whole =
          decoded.kind === "click" ? { ...decoded, event: ClickEvent.parse(decoded.event) } : decoded;
        expect(decoded).toEqual(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ["not-json", ""],
    ["not-json", "{"],
    ["not-json", "\ufeff{}"],
    ["not-an-object", "null"],
    ["not-an-object", "[1]"],
    ["not-an-object", '"text"'],
    ["missing-field", "{}"],
    ["unknown-version", '{"v":2}'],
    ["unknown-version", '{"v":"1"}'],
    ["unknown-version", '{"v":null}'],
    ["missing-field", '{"v":1}'],
    ["missing-field", '{"v":1,"kind":"refused"}'],
  ])("is %s for %s", (reason, text) => {
    expect(decodeText(text)).toMatchObject({ kind: "undecodable", reason });
  });

  test("is a wrong field when it is nested deeper than any stack", () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    expect(decodeText(`{"v":1,"event_id":${deep}}`)).toMatchObject({ reason: "wrong-field" });
  });

  test("is not JSON when it is not UTF-8", () => {
    const bytes = Buffer.from(encodeClick(sampleClick({ city: "?" })));
    bytes[bytes.indexOf("?")] = 0xff;
    expect(decodeRecord(bytes)).toMatchObject({ reason: "not-json" });
  });

  test("is too large beyond the limit, and read up to it", () => {
    const padding = " ".repeat(limits.recordBytes - encodeClick(sampleClick()).length);
    const atLimit = JSON.stringify(sampleClick()) + padding;
    expect(decodeText(atLimit).kind).toBe("click");
    expect(decodeText(`${atLimit} `)).toMatchObject({ reason: "too-large" });
  });

  test("is a refused range that ends before it begins: a wrong field", () => {
    const [range] = fc.sample(refusedRanges, 1);
    expect(decodeJson({ ...range, from_seq: 5, to_seq: 4 })).toMatchObject({
      reason: "wrong-field",
      detail: "to_seq: takes at least from_seq, got 4",
    });
  });
});

describe("a field", () => {
  test.each(Object.keys(ClickEvent.shape))("%s that is missing is named", (field) => {
    const decoded = decodeJson(withField(sampleClick(), field, undefined));
    expect(decoded).toMatchObject({ reason: "missing-field" });
    expect(detailOf(decoded)).toMatch(new RegExp(`^${field}: takes .*, got nothing$`));
  });

  test("that this version does not know is left out", () => {
    const event = sampleClick({ click_ids: { gclid: "a" } });
    const newer = {
      ...event,
      kind: "click",
      added: { later: [1] },
      utm: { ...event.utm, id: "7" },
      click_ids: { gclid: "a", newid: "b" },
      client_hints: { ...event.client_hints, arch: "arm" },
    };
    expect(decodeJson(newer)).toEqual({ kind: "click", event });
  });

  test("is described without what it says", () => {
    const secret = "203.0.113.77 ".repeat(50);
    expect(decodeJson({ ...sampleClick(), user_agent: secret, qr: "203.0.113.77" })).toEqual({
      kind: "undecodable",
      number: 12345,
      reason: "wrong-field",
      detail: "user_agent: takes at most 512 characters, got a text of 650 characters; 1 more wrong",
    });
  });

  test.each([
    ["edge", limits.edge],
    ["domain", limits.domain],
    ["slug", limits.slug],
    ["destination", limits.destination],
    ["region", limits.region],
    ["city", limits.city],
    ["user_agent", limits.userAgent],
    ["referrer_domain", limits.domain],
    ["language", limits.language],
    ["utm.source", limits.utm],
    ["utm.medium", limits.utm],
    ["utm.campaign", limits.utm],
    ["utm.term", limits.utm],
    ["utm.content", limits.utm],
    ["client_hints.brands", limits.clientHint],
    ["client_hints.mobile", limits.clientHint],
    ["client_hints.platform", limits.clientHint],
    ["client_hints.platform_version", limits.clientHint],
    ["client_hints.model", limits.clientHint],
    ["click_ids.gclid", limits.clickId],
    ["click_ids.gbraid", limits.clickId],
    ["click_ids.wbraid", limits.clickId],
    ["click_ids.dclid", limits.clickId],
    ["click_ids.fbclid", limits.clickId],
    ["click_ids.msclkid", limits.clickId],
    ["click_ids.ttclid", limits.clickId],
    ["click_ids.twclid", limits.clickId],
    ["click_ids.li_fat_id", limits.clickId],
  ])("%s takes a text of its limit, and not one more, and no half of a character", (field, max) => {
    expect(decodeWith(field, "\u0000".repeat(max))).toEqual(clickWith(field, "\u0000".repeat(max)));
    expect(detailOf(decodeWith(field, "x".repeat(max + 1)))).toContain(field);
    expect(detailOf(decodeWith(field, "\ud83d"))).toContain(field);
  });

  test.each([
    ["edge_seq", 1, Number.MAX_SAFE_INTEGER],
    ["ts", 946_684_800_000, 4_102_444_800_000],
    ["workspace_id", 1, 0xffff_ffff],
    ["link_id", 1, Number.MAX_SAFE_INTEGER],
    ["asn", 0, 0xffff_ffff],
    ["bot", 0, 0xffff_ffff],
    ["variant", 0, 255],
  ])("%s takes whole numbers from %d to %d", (field, min, max) => {
    expect(decodeWith(field, min)).toEqual(clickWith(field, min));
    expect(decodeWith(field, max)).toEqual(clickWith(field, max));
    expect(detailOf(decodeWith(field, min - 1))).toContain(field);
    expect(detailOf(decodeWith(field, max + 1))).toContain(field);
    expect(detailOf(decodeWith(field, min + 0.5))).toContain(field);
    expect(detailOf(decodeWith(field, String(min)))).toContain(field);
  });

  test.each([
    ["edge", "a", ""],
    ["domain", "a", ""],
    ["country", "", "de"],
    ["country", "DE", "DEU"],
    ["visitor", "", "0123456789ABCDEF0123456789ABCDEF"],
    ["visitor", "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcde"],
    ["event_id", "01976f5c-8a10-7c3e-9d2b-5f6a7b8c9d0e", "01976f5c-8a10-4c3e-9d2b-5f6a7b8c9d0e"],
    ["edge_run", "01976f5c-8a10-7c3e-9d2b-5f6a7b8c9d0e", "01976F5C-8A10-7C3E-9D2B-5F6A7B8C9D0E"],
    ["status", 308, 303],
    ["method", "HEAD", "POST"],
    ["prefetch", true, 1],
    ["qr", true, "true"],
    ["gpc", true, null],
    ["click_ids", {}, []],
    ["client_hints", {}, null],
    ["utm", sampleClick().utm, {}],
  ])("%s takes %j and not %j", (field, right, wrong) => {
    expect(decodeWith(field, right)).toEqual(clickWith(field, right));
    expect(detailOf(decodeWith(field, wrong))).toContain(field);
  });
});

function decodeWith(field: string, value: unknown): Decoded {
  return decodeJson(withField(sampleClick(), field, value));
}

function clickWith(field: string, value: unknown): object {
  return { kind: "click", event: withField(sampleClick(), field, value) };
}

function detailOf(decoded: Decoded): string {
  return decoded.kind === "undecodable" ? decoded.detail : "";
}

/** A copy with one field set, or left out for `undefined`; a dot leads into an object. */
function withField(event: object, path: string, value: unknown): object {
  const [outer = "", inner] = path.split(".");
  const nested: unknown = Reflect.get(event, outer);
  const to =
    inner === undefined || typeof nested !== "object" || nested === null
      ? value
      : withField(nested, inner, value);
  return Object.fromEntries([...Object.entries(event).filter(([name]) => name !== outer), [outer, to]]);
}
