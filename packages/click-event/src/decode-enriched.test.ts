import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "./click-event.ts";
import { decodeRecord } from "./decode.ts";
import { decodeEnriched } from "./decode-enriched.ts";
import { encodeClick, encodeEnriched, encodeRefusedRange } from "./encode.ts";
import { createEnricher, Enrichment } from "./enrich.ts";
import { clickEvents, refusedRanges } from "./testing/arbitrary.ts";
import { sampleClick } from "./testing/sample.ts";

const enrich = createEnricher({ cacheSize: 10 });
const sample = { ...sampleClick(), enrichment: enrich(sampleClick()) };

function decodeJson(value: unknown) {
  return decodeEnriched(JSON.stringify(value));
}

test("an enriched click comes back as it was encoded, from its bytes and from their text", () => {
  fc.assert(
    fc.property(clickEvents, (event) => {
      const enrichment = enrich(event);
      const bytes = encodeEnriched(event, enrichment);
      const decoded = { kind: "enriched-click", event, enrichment };
      expect(decodeEnriched(bytes)).toEqual(decoded);
      expect(decodeEnriched(Buffer.from(bytes).toString())).toEqual(decoded);
    }),
  );
});

test("one that is given again says so, and to whoever does not know of that is a click like any other", () => {
  const { enrichment, ...event } = sample;
  const bytes = encodeEnriched(event, enrichment, true);
  expect(decodeEnriched(bytes)).toEqual({ kind: "enriched-click", event, enrichment, replayed: true });
  expect(decodeRecord(bytes)).toEqual({ kind: "click", event });
});

test("what this version does not know is left out, of the event and of the enrichment", () => {
  const { enrichment, ...event } = sample;
  const newer = { ...sample, added: 1, enrichment: { ...enrichment, engine: "Blink" } };
  expect(decodeJson(newer)).toEqual({ kind: "enriched-click", event, enrichment });
});

describe("it is undecodable", () => {
  test("without an enrichment: a click, a refused range", () => {
    expect(decodeEnriched(encodeClick(sampleClick()))).toMatchObject({
      kind: "undecodable",
      reason: "missing-field",
      detail: "enrichment: takes a value of type object, got nothing",
      number: sampleClick().edge_seq,
    });
    for (const range of fc.sample(refusedRanges, 5)) {
      expect(decodeEnriched(encodeRefusedRange(range)).kind).toBe("undecodable");
    }
  });

  test.each(Object.keys(Enrichment.shape))("when %s is missing or wrong, which is named", (field) => {
    const rest = Object.entries(sample.enrichment).filter(([name]) => name !== field);
    const without = { ...sample, enrichment: Object.fromEntries(rest) };
    const wrong = { ...sample, enrichment: { ...sample.enrichment, [field]: "x".repeat(65) } };
    expect(problemOf(without)).toMatch(new RegExp(`^missing-field enrichment.${field}: takes`));
    expect(problemOf(wrong)).toMatch(new RegExp(`^wrong-field enrichment.${field}: takes`));
  });

  test("for any other bytes and any other JSON", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json()), (record) => {
        expect(decodeEnriched(record).kind).toBe("undecodable");
      }),
    );
  });

  test("beyond the limit of bytes, counted as bytes also in a text", () => {
    expect(decodeEnriched("ä".repeat(limits.recordBytes / 2 + 1))).toMatchObject({ reason: "too-large" });
    expect(decodeEnriched("ä".repeat(limits.recordBytes / 2))).toMatchObject({ reason: "not-json" });
  });
});

function problemOf(value: unknown): string {
  const decoded = decodeJson(value);
  return decoded.kind === "undecodable" ? `${decoded.reason} ${decoded.detail}` : "";
}
