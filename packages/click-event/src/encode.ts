import type { ClickEvent, RefusedRange } from "./click-event.ts";
import type { Enrichment } from "./enrich.ts";

/**
 * The bytes of one event as they travel through journal and log: UTF-8 JSON, one object. Trusts its argument:
 * an event that the schema would refuse is encoded all the same and becomes a dead letter. At most
 * `limits.recordBytes` for an event within its limits.
 */
export function encodeClick(event: ClickEvent): Uint8Array {
  return Buffer.from(JSON.stringify(event));
}

/**
 * A record of `clicks.fanout`: the event, and in the field `enrichment` what is derived from it. Who knows nothing of
 * that field reads a click. Some 200 bytes longer. `replayed` marks one that is given again, or late: it is not news.
 */
export function encodeEnriched(event: ClickEvent, enrichment: Enrichment, replayed = false): Uint8Array {
  return Buffer.from(JSON.stringify({ ...event, enrichment, ...(replayed && { replayed }) }));
}

/** As `encodeClick`. */
export function encodeRefusedRange(range: RefusedRange): Uint8Array {
  return Buffer.from(JSON.stringify(range));
}
