import { clip } from "@sluice/click-event/clip.ts";
import type { Outgoing } from "@sluice/link-store/deliveries/delivery-store.ts";
import { clickOf } from "../../click-of.ts";
import { type LinkClicked, linkClicked } from "../../events/link-clicked.ts";
import type { SkipReason } from "../channel.ts";

/** What Standard Webhooks recommends, less one: smaller than 20 kB. */
const maxBytes = 19_999;

/**
 * The body of a webhook, the same whenever and to whomever the event is sent; or why there can be none. An event that is
 * for many targets is read and written once.
 */
export function payloadOf(event: Outgoing): Uint8Array | SkipReason {
  let payload = payloads.get(event);
  if (payload === undefined) {
    payload = event.type === "link.clicked" ? clickPayload(event) : ownPayload(event);
    payloads.set(event, payload);
  }
  return payload;
}

const payloads = new WeakMap<Outgoing, Uint8Array | SkipReason>();

function clickPayload(event: Outgoing): Uint8Array | SkipReason {
  const decoded = clickOf(event);
  if (decoded.kind === "undecodable") return "no-click";
  const data = linkClicked(decoded.event, decoded.enrichment);
  const whole = encoded(event, JSON.stringify(data));
  if (whole.length <= maxBytes) return whole;
  for (const length of lengths) {
    const cut = encoded(event, JSON.stringify(clippedTo(length, data)));
    if (cut.length <= maxBytes) return cut;
  }
  return "too-large";
}

/**
 * What texts are cut to until the body is small enough: first the destination alone is so long. With the last of them
 * even texts of nothing but escapes are.
 */
const lengths = [8_192, 4_096, 2_048, 1_024, 512, 256, 128, 64];

function clippedTo(length: number, data: LinkClicked): unknown {
  const text = JSON.stringify({ ...data, clipped: true }, (_key, value: unknown) =>
    typeof value === "string" ? clip(value, length) : value,
  );
  return JSON.parse(text);
}

function ownPayload(event: Outgoing): Uint8Array | SkipReason {
  const whole = encoded(event, event.body);
  return whole.length <= maxBytes ? whole : "too-large";
}

function encoded({ type, ts }: Outgoing, data: string): Buffer {
  return Buffer.from(`{"type":"${type}","timestamp":"${new Date(ts).toISOString()}","data":${data}}`);
}
