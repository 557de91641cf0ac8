import type { z } from "zod";
import { ClickEvent, RefusedRange, limits } from "./click-event.ts";
import { exactly, isObject } from "./exactly.ts";
import { describe, explain } from "./explain.ts";

export type UndecodableReason =
  | "not-json"
  | "not-an-object"
  | "unknown-version"
  | "missing-field"
  | "wrong-field"
  | "too-large";

/** A record that is none of ours: kept as a dead letter under this reason. */
export interface Undecodable {
  readonly kind: "undecodable";
  readonly reason: UndecodableReason;
  /** For a person: which field, what it takes, what it got. Short, and without the values of texts. */
  readonly detail: string;
  /** The number in its run that the record has used up, as far as it can be told; 0 when it cannot. */
  readonly number: number;
}

export type Decoded =
  | { readonly kind: "click"; readonly event: ClickEvent }
  | { readonly kind: "refused-range"; readonly range: RefusedRange }
  | Undecodable;

/**
 * What a record says. Never throws, whatever the bytes, and never gives a part of an event. Fields that this
 * version does not know are left out.
 */
export function decodeRecord(bytes: Uint8Array): Decoded {
  const parsed = parseRecord(bytes);
  if (parsed.kind === "undecodable") return parsed;
  return parsed.value["kind"] === "refused" ? decodeRange(parsed.value) : decodeClick(parsed.value);
}

/** The object of this version that a record is, none of its other fields looked at. */
export function parseRecord(
  record: Uint8Array | string,
): Undecodable | { readonly kind: "object"; readonly value: Record<string, unknown> } {
  const bytes = typeof record === "string" ? Buffer.byteLength(record) : record.length;
  if (bytes > limits.recordBytes) {
    return undecodable("too-large", `takes at most ${limits.recordBytes} bytes, got ${bytes}`);
  }
  let value: unknown;
  try {
    // A decoder with a byte order mark kept, because JSON has none.
    value = JSON.parse(typeof record === "string" ? record : utf8.decode(record));
  } catch {
    return undecodable("not-json", `takes JSON in UTF-8, got ${bytes} bytes of something else`);
  }
  if (!isObject(value)) return undecodable("not-an-object", `takes an object, got ${describe(value)}`);
  if (value["v"] === undefined) return undecodable("missing-field", "v: takes 1, got nothing", value);
  if (value["v"] !== 1)
    return undecodable("unknown-version", `v: takes 1, got ${describe(value["v"])}`, value);
  return { kind: "object", value };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const isClickEvent = exactly(ClickEvent);

function decodeClick(value: object): Decoded {
  if (isClickEvent(value)) return { kind: "click", event: value };
  const { success, data, error } = ClickEvent.safeParse(value);
  return success ? { kind: "click", event: data } : explained(error, value);
}

function decodeRange(value: object): Decoded {
  const { success, data, error } = RefusedRange.safeParse(value);
  return success ? { kind: "refused-range", range: data } : explained(error, value);
}

/** Why the schema did not take the object of a record. */
export function explained(error: z.ZodError, value: object): Undecodable {
  const { missing, detail } = explain(error, value);
  return undecodable(missing ? "missing-field" : "wrong-field", detail, value);
}

function undecodable(reason: UndecodableReason, detail: string, value: object = {}): Undecodable {
  const number = "edge_seq" in value ? value.edge_seq : undefined;
  const isNumber = typeof number === "number" && Number.isSafeInteger(number) && number > 0;
  return { kind: "undecodable", reason, detail, number: isNumber ? number : 0 };
}
