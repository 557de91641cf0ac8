import { z } from "zod";

/**
 * The widest values that a column or a key has to hold; `docs/architecture.md` says where each comes from. Texts
 * are counted in UTF-16 units, as `String.length` does; `clip` cuts a text to such a length.
 */
export const limits = {
  edge: 64,
  domain: 253,
  slug: 512,
  destination: 16_384,
  region: 64,
  city: 128,
  userAgent: 512,
  language: 35,
  utm: 256,
  clickId: 512,
  clientHint: 256,
  /**
   * One encoded record; above it a record is refused unread. An event with every text at its limit and every
   * character in its longest escape (`\u0000`, six bytes) takes 151 kB; this is the next multiple of 32 KiB.
   */
  recordBytes: 163_840,
} as const;

/**
 * A text of at most `max` UTF-16 units. JSON can spell half a surrogate pair and JavaScript can hold it, but UTF-8, and
 * so ClickHouse, cannot.
 */
export const text = (max: number) =>
  z.string().max(max).refine(isWellFormed, { error: "well-formed Unicode" });
const uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const count = z.int().min(1);
const uint32 = z.int().min(0).max(0xffff_ffff);
/** 2000-01-01 to 2100-01-01: what a click's clock may say, and well inside ClickHouse's DateTime64. */
const millis = z.int().min(946_684_800_000).max(4_102_444_800_000);

// Objects and not records, because a record refuses a name that a newer edge has added.
const hint = z.exactOptional(text(limits.clientHint));
const ClientHints = z.object({
  brands: hint,
  mobile: hint,
  platform: hint,
  platform_version: hint,
  model: hint,
});
export const clientHintNames = ClientHints.keyof().options;

const clickId = z.exactOptional(text(limits.clickId));
const ClickIds = z.object({
  gclid: clickId,
  gbraid: clickId,
  wbraid: clickId,
  dclid: clickId,
  fbclid: clickId,
  msclkid: clickId,
  ttclid: clickId,
  twclid: clickId,
  li_fat_id: clickId,
});
export const clickIdNames = ClickIds.keyof().options;

/** One click, version 1. Every field is always there; what is not known is empty, zero or false. */
export const ClickEvent = z.object({
  v: z.literal(1),
  /** UUIDv7, minted once, at the edge. */
  event_id: uuid,
  /** The edge's configured name. */
  edge: text(limits.edge).min(1),
  /** UUIDv7, minted at each start of an edge; the name of its journal directory. */
  edge_run: uuid,
  /** From 1, without gaps within a run. */
  edge_seq: count,
  /** Milliseconds since 1970, by the edge's clock; never going back within a run. */
  ts: millis,
  workspace_id: uint32.min(1),
  link_id: count,
  domain: text(limits.domain).min(1),
  slug: text(limits.slug),
  destination: text(limits.destination),
  status: z.literal([301, 302, 307, 308]),
  method: z.enum(["GET", "HEAD"]),
  /** ISO 3166-1 alpha-2, or empty. */
  country: z.string().regex(/^(?:[A-Z]{2})?$/),
  region: text(limits.region),
  city: text(limits.city),
  asn: uint32,
  user_agent: text(limits.userAgent),
  client_hints: ClientHints,
  /** The referrer's host, or empty. */
  referrer_domain: text(limits.domain),
  language: text(limits.language),
  /** 32 hex digits of a keyed hash, or empty. */
  visitor: z.string().regex(/^(?:[0-9a-f]{32})?$/),
  /** Why it is not taken for a person's: bits of `botReasons`, 0 for none. */
  bot: uint32,
  prefetch: z.boolean(),
  qr: z.boolean(),
  variant: z.int().min(0).max(255),
  utm: z.object({
    source: text(limits.utm),
    medium: text(limits.utm),
    campaign: text(limits.utm),
    term: text(limits.utm),
    content: text(limits.utm),
  }),
  click_ids: ClickIds,
  /** The visitor asked not to be tracked. */
  gpc: z.boolean(),
});
export type ClickEvent = z.infer<typeof ClickEvent>;

/**
 * Numbers of a run that were used up by clicks which could not be journaled. Written when room returns, so that
 * these numbers are not taken for lost clicks.
 */
export const RefusedRange = z
  .object({
    v: z.literal(1),
    kind: z.literal("refused"),
    edge: ClickEvent.shape.edge,
    edge_run: uuid,
    /** Both ends included. */
    from_seq: count,
    to_seq: count,
    ts: millis,
    reason: z.enum(["full", "too-large", "error"]),
  })
  .refine((range) => range.to_seq >= range.from_seq, { path: ["to_seq"], error: "at least from_seq" });
export type RefusedRange = z.infer<typeof RefusedRange>;

function isWellFormed(value: string): boolean {
  return value.isWellFormed();
}
