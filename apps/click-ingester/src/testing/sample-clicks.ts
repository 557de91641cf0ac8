import type { ClickEvent, RefusedRange } from "@sluice/click-event/click-event.ts";
import { encodeClick, encodeRefusedRange } from "@sluice/click-event/encode.ts";
import type { NewRecord } from "@sluice/event-log/event-log.ts";

// For tests: clicks that say little, but all that the schema asks for.

/** A UUIDv7 made from two numbers, so that a failing test names the same click each time. */
export function uuidOf(high: number, low: number): string {
  return `${hex(high, 8)}-0000-7000-8000-${hex(low, 12)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** Click `number` of run `run`. Its time follows from its number, as an edge's would: several clicks in one ms. */
export function sampleClick(run: number, number: number, fields: Partial<ClickEvent> = {}): ClickEvent {
  return {
    v: 1,
    event_id: uuidOf(run, number),
    edge: "test-edge",
    edge_run: uuidOf(run, 0),
    edge_seq: number,
    ts: 1_790_000_000_000 + Math.floor(number / 3),
    workspace_id: 1,
    link_id: (number % 50) + 1,
    domain: "go.example",
    slug: "demo",
    destination: "https://example.com/landing?from=sluice",
    status: 302,
    method: "GET",
    country: "DE",
    region: "",
    city: "",
    asn: 64_496,
    user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    client_hints: {},
    referrer_domain: "news.example",
    language: "de-DE",
    visitor: "0123456789abcdef0123456789abcdef",
    bot: 0,
    prefetch: false,
    qr: false,
    variant: 0,
    utm: { source: "newsletter", medium: "email", campaign: "spring", term: "", content: "" },
    click_ids: {},
    gpc: false,
    ...fields,
  };
}

/** A record as the edge's shipper appends it. */
export function clickRecord(event: ClickEvent): NewRecord {
  return { key: event.edge_run, value: encodeClick(event) };
}

/** Numbers of a run that were used up by clicks that the edge could not journal. */
export function refusedRecord(run: number, fromSeq: number, toSeq: number): NewRecord {
  const range: RefusedRange = {
    v: 1,
    kind: "refused",
    edge: "test-edge",
    edge_run: uuidOf(run, 0),
    from_seq: fromSeq,
    to_seq: toSeq,
    ts: sampleClick(run, toSeq).ts,
    reason: "full",
  };
  return { key: range.edge_run, value: encodeRefusedRange(range) };
}
