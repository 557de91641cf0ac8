import * as fc from "fast-check";
import { expect, it } from "vitest";
import { clickIdNames, clientHintNames, type ClickEvent, limits } from "./click-event.ts";
import { clip } from "./clip.ts";
import { decodeRecord } from "./decode.ts";
import { encodeClick, encodeRefusedRange } from "./encode.ts";
import { ClickScanner, fieldAt } from "./scan.ts";
import { ScannedClick } from "./scanned-click.ts";
import { clickEvents, refusedRanges } from "./testing/arbitrary.ts";
import { sampleClick } from "./testing/sample.ts";

const scan = new ClickScanner();
const scanned = new ScannedClick(scan);

it("a click as edges write it is read, and is what decoding it gives", () => {
  const plain = clickEvents.map(asEdgesWrite);
  fc.assert(
    fc.property(plain, fc.boolean(), (event, otherOrder) => {
      const record = encodeClick(otherOrder ? reversed(event) : event);
      expect(read(record)).toEqual(decodeRecord(record));
    }),
  );
});

it("what is read of any click is what decoding it gives", () => {
  fc.assert(
    fc.property(clickEvents, (event) => {
      const record = encodeClick(event);
      expect(read(record) ?? decodeRecord(record)).toEqual(decodeRecord(record));
    }),
  );
});

it("a click that was damaged anywhere is read only where it decodes, and to the same", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 4 }),
    fc
      .constantFrom('"', "\\", ",", "0", "-", ".", " ", "}", "{}", "null", "é", '"v":1,', "true", "\\u0041")
      .map(bytesOf),
  );
  const damage = fc.record({ at: fc.nat(), removed: fc.nat(3), piece });
  fc.assert(
    fc.property(clickEvents.map(asEdgesWrite), damage, (event, { at, removed, piece: put }) => {
      const whole = encodeClick(event);
      const start = at % whole.length;
      const record = Buffer.concat([whole.subarray(0, start), put, whole.subarray(start + removed)]);
      expect(read(record) ?? decodeRecord(record)).toEqual(decodeRecord(record));
    }),
    { numRuns: 2_000 },
  );
});

it("what is asked for beside the row is the click's", () => {
  fc.assert(
    fc.property(clickEvents.map(asEdgesWrite), (event) => {
      expect(scan.read(encodeClick(event))).toBe(true);
      const { edge_run, edge_seq, ts, workspace_id, link_id, visitor, domain, method } = scanned;
      const { user_agent, referrer_domain, bot, prefetch, utm, click_ids } = scanned;
      expect(event).toMatchObject({ edge_run, edge_seq, ts, workspace_id, link_id, visitor, domain, method });
      expect(event).toMatchObject({ user_agent, referrer_domain, bot, prefetch, utm });
      expect(click_ids).toEqual(event.click_ids);
    }),
  );
});

const text = JSON.stringify(sampleClick());

it.each([
  ["space", text.replace('"edge":', '"edge": ')],
  ["space behind", `${text} `],
  ["a field that is not known", text.replace('"v":1', '"v":1,"new":1')],
  ["a field less", text.replace('"gpc":false', '"qr":false').replace(',"qr":false', "")],
  ["a field twice", text.replace('"gpc":false', '"gpc":false,"gpc":true')],
  ["a field twice and another not", text.replace('"qr":false', '"gpc":false')],
  ["a hint twice", text.replace('"mobile":"?0"', '"mobile":"?0","mobile":"?1"')],
  ["a field of another object", text.replace('"utm":{"source"', '"utm":{"slug"')],
  ["another version", text.replace('"v":1', '"v":2')],
  ["a number with a zero before it", text.replace('"asn":3320', '"asn":03320')],
  ["a number with a fraction", text.replace('"asn":3320', '"asn":3320.0')],
  ["a number with an exponent", text.replace('"asn":3320', '"asn":3320e0')],
  ["no number", text.replace('"asn":3320', '"asn":')],
  ["a negative number", text.replace('"asn":3320', '"asn":-1')],
  ["a number that is too large", text.replace('"asn":3320', '"asn":4294967296')],
  ["a number that is not exact", text.replace('"link_id":42', '"link_id":9007199254740993')],
  ["a status that is none", text.replace('"status":302', '"status":303')],
  ["a method that is none", text.replace('"GET"', '"PUT"')],
  ["an empty text where there must be one", text.replace('"edge":"fra1"', '"edge":""')],
  ["an id in capitals", text.replace("7c3e-9d2b", "7C3E-9D2B")],
  ["an id of another version", text.replace("-7c3e-", "-4c3e-")],
  ["an id that is short", text.replace("5f6a7b8c9d0e", "5f6a7b8c9d0")],
  ["a country in small letters", text.replace('"DE"', '"de"')],
  ["a text that is too long", text.replace("summer-sale", "s".repeat(limits.slug + 1))],
  ["a line break in a text", text.replace("summer-sale", "summer\nsale")],
  ["an escape of a character", text.replace("summer-sale", String.raw`summer\u002dsale`)],
  ["no end", text.slice(0, -1)],
  ["half a text", text.slice(0, 100)],
  ["nothing", ""],
])("%s is left to decoding", (_, record) => {
  expect(read(bytesOf(text))).toBeDefined();
  expect(read(bytesOf(record))).toBeUndefined();
});

it("bytes that are no UTF-8 are left to decoding", () => {
  for (const bytes of ["ff", "c3", "eda080", "c0af"]) {
    const [before = "", behind = ""] = text.split("summer-sale");
    const record = Buffer.concat([bytesOf(before), Buffer.from(bytes, "hex"), bytesOf(behind)]);
    expect(decodeRecord(record).kind).toBe("undecodable");
    expect(read(record)).toBeUndefined();
  }
});

it("a refused range is left to decoding", () => {
  const [range] = fc.sample(refusedRanges, 1);
  expect(range && read(encodeRefusedRange(range))).toBeUndefined();
});

function bytesOf(record: string): Uint8Array {
  return Buffer.from(record);
}

/** As `decodeRecord`, of what the scanner reads. */
function read(record: Uint8Array): unknown {
  return scan.read(record) ? { kind: "click", event: eventOf(scan) } : undefined;
}

function decoded(record: Uint8Array): ClickEvent {
  const click = decodeRecord(record);
  if (click.kind !== "click") throw new Error("what was read is no click");
  return click.event;
}

/**
 * Without controls, which JSON spells as escapes; what is not ASCII is short, because it
 * has more bytes than characters. One text has characters that are escaped.
 */
function asEdgesWrite(event: ClickEvent): ClickEvent {
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return shortened(withoutControls(value));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, clean(inner)]));
  };
  const cleaned = decoded(bytesOf(JSON.stringify(clean(event))));
  return { ...cleaned, city: `"${clip(cleaned.city, 8)}\\/` };
}

function withoutControls(value: string): string {
  return Array.from(value, (each) => (each < " " ? " " : each)).join("");
}

function shortened(value: string): string {
  return Buffer.byteLength(value) === value.length ? value : clip(value, 8);
}

function reversed(event: ClickEvent): ClickEvent {
  return decoded(bytesOf(JSON.stringify(Object.fromEntries(Object.entries(event).toReversed()))));
}

/** All that was read, each value as its field in an ordinary click is. */
function eventOf(click: ClickScanner): unknown {
  const valueAt = (path: string, like: unknown): unknown => {
    const field = fieldAt(path);
    if (typeof like === "number") return click.number(field);
    return typeof like === "boolean" ? click.number(field) === 1 : click.text(field);
  };
  const mapAt = (path: string, names: readonly string[]) =>
    Object.fromEntries(
      names
        .filter((name) => click.has(fieldAt(`${path}.${name}`)))
        .map((name) => [name, valueAt(`${path}.${name}`, "")]),
    );
  const { utm, ...sample } = sampleClick();
  return {
    ...Object.fromEntries(Object.entries(sample).map(([name, like]) => [name, valueAt(name, like)])),
    utm: mapAt("utm", Object.keys(utm)),
    client_hints: mapAt("client_hints", clientHintNames),
    click_ids: mapAt("click_ids", clickIdNames),
  };
}
