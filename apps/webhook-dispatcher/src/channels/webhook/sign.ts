import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import type { TargetId } from "@sluice/link-store/targets/target.ts";

/**
 * The key of a secret as customers know it (`whsec_` and base64), or undefined when it is none. Made once: with plain bytes
 * half of what a signature costs goes into finding out that they are no key.
 */
export function keyOf(secret: string): KeyObject | undefined {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : "";
  const key = Buffer.from(encoded, "base64");
  // Node skips what is no base64, so that a damaged secret would be another one.
  const isWhole = key.toString("base64") === encoded;
  return isWhole && key.length >= minBytes && key.length <= maxBytes ? createSecretKey(key) : undefined;
}

const prefix = "whsec_";
/** Standard Webhooks 1.0. */
const minBytes = 24;
const maxBytes = 64;

/**
 * The signatures of a message, Standard Webhooks 1.0: `v1,` and base64 of HMAC-SHA256, one for each key in their order.
 * `timestamp` in seconds.
 */
export function sign(keys: readonly KeyObject[], id: string, timestamp: number, body: Uint8Array): string {
  const signatures = keys.map((key) => {
    const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
    return `v1,${digest}`;
  });
  return signatures.join(" ");
}

/**
 * The same for an event and a target whenever it is sent, so that a receiver knows what it has already; another for each
 * target. 162 bits of a hash.
 */
export function messageId(eventId: string, target: TargetId): string {
  return `msg_${hash("sha256", `${eventId} ${target}`, "base64url").slice(0, 27)}`;
}
