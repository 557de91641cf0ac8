import * as fc from "fast-check";
import { type ClickEvent, clickIdNames, clientHintNames, limits, type RefusedRange } from "../click-event.ts";
import { clip } from "../clip.ts";

/** Any text that a field of `max` UTF-16 units takes; long only now and then, because most are not. */
function text(max: number, min = 0): fc.Arbitrary<string> {
  const anything = fc.string({ unit: "binary", minLength: min, maxLength: max, size: "small" });
  return anything.map((value) => clip(value, max));
}

const uuid = fc.uuid({ version: 7 });
const seq = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const millis = fc.integer({ min: 946_684_800_000, max: 4_102_444_800_000 });

function someOf(names: readonly string[], value: fc.Arbitrary<string>) {
  return fc.dictionary(fc.constantFrom(...names), value, { noNullPrototype: true });
}

/** Every valid event, for property tests here and in other packages. */
export const clickEvents: fc.Arbitrary<ClickEvent> = fc.record({
  v: fc.constant(1 as const),
  event_id: uuid,
  edge: text(limits.edge, 1),
  edge_run: uuid,
  edge_seq: seq,
  ts: millis,
  workspace_id: uint32.map((id) => Math.max(id, 1)),
  link_id: seq,
  domain: text(limits.domain, 1),
  slug: text(limits.slug),
  destination: text(limits.destination),
  status: fc.constantFrom(301 as const, 302 as const, 307 as const, 308 as const),
  method: fc.constantFrom("GET" as const, "HEAD" as const),
  country: fc.stringMatching(/^(?:[A-Z]{2})?$/),
  region: text(limits.region),
  city: text(limits.city),
  asn: uint32,
  user_agent: text(limits.userAgent),
  client_hints: someOf(clientHintNames, text(limits.clientHint)),
  referrer_domain: text(limits.domain),
  language: text(limits.language),
  visitor: fc.stringMatching(/^(?:[0-9a-f]{32})?$/),
  bot: uint32,
  prefetch: fc.boolean(),
  qr: fc.boolean(),
  variant: fc.integer({ min: 0, max: 255 }),
  utm: fc.record({
    source: text(limits.utm),
    medium: text(limits.utm),
    campaign: text(limits.utm),
    term: text(limits.utm),
    content: text(limits.utm),
  }),
  click_ids: someOf(clickIdNames, text(limits.clickId)),
  gpc: fc.boolean(),
});

/** Every valid refused range. */
export const refusedRanges: fc.Arbitrary<RefusedRange> = fc
  .record({
    v: fc.constant(1 as const),
    kind: fc.constant("refused" as const),
    edge: text(limits.edge, 1),
    edge_run: uuid,
    from_seq: seq,
    to_seq: seq,
    ts: millis,
    reason: fc.constantFrom("full" as const, "too-large" as const, "error" as const),
  })
  .map((range) => ({ ...range, to_seq: Math.max(range.from_seq, range.to_seq) }));
