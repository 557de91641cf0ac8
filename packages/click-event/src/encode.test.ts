import { expect, test } from "vitest";
import { ClickEvent, clickIdNames, clientHintNames, limits } from "./click-event.ts";
import { decodeRecord } from "./decode.ts";
import { encodeClick, encodeEnriched } from "./encode.ts";
import { createEnricher } from "./enrich.ts";
import { sampleClick } from "./testing/sample.ts";

test("an event with every field at its limit, in the longest escapes, fits into one record", () => {
  const event = ClickEvent.parse({
    ...sampleClick(),
    edge: longest(limits.edge),
    edge_seq: Number.MAX_SAFE_INTEGER,
    ts: 4_102_444_800_000,
    workspace_id: 0xffff_ffff,
    link_id: Number.MAX_SAFE_INTEGER,
    domain: longest(limits.domain),
    slug: longest(limits.slug),
    destination: longest(limits.destination),
    method: "HEAD",
    region: longest(limits.region),
    city: longest(limits.city),
    asn: 0xffff_ffff,
    user_agent: longest(limits.userAgent),
    client_hints: all(clientHintNames, limits.clientHint),
    referrer_domain: longest(limits.domain),
    language: longest(limits.language),
    bot: 0xffff_ffff,
    variant: 255,
    utm: all(["source", "medium", "campaign", "term", "content"], limits.utm),
    click_ids: all(clickIdNames, limits.clickId),
  });

  const bytes = encodeClick(event);

  expect(bytes.length).toBeLessThanOrEqual(limits.recordBytes);
  expect(bytes.length).toBeGreaterThan(limits.recordBytes - 32_768);
  expect(decodeRecord(bytes)).toEqual({ kind: "click", event });
});

function longest(max: number): string {
  return "\u0000".repeat(max);
}

function all(names: readonly string[], max: number): object {
  return Object.fromEntries(names.map((name) => [name, longest(max)]));
}

test("an enriched event is read as the event by whoever knows nothing of the enrichment", () => {
  const event = sampleClick();
  const enrichment = createEnricher({ cacheSize: 1 })(event);
  const bytes = encodeEnriched(event, enrichment);
  expect(decodeRecord(bytes)).toEqual({ kind: "click", event });
  expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ enrichment });
});
