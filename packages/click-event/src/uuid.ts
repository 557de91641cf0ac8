import { randomBytes } from "node:crypto";

/** Random digits are fetched for so many ids at once: a call for each would cost more than the rest of the id. */
const idsPerFetch = 512;
const digitsPerId = 20;

let digits = "";
let lastMs = 0;
let sequence = 0;

/**
 * A UUIDv7 (RFC 9562, 5.7) in its usual lower-case form. Ids of one process ascend as strings: within a
 * millisecond by a 12-bit counter that starts anywhere in its lower half (6.2, method 1); when the clock steps
 * back, or the counter is full, by keeping or advancing the last time used. 62 bits are random.
 */
export function uuidv7(nowMs: number): string {
  if (digits === "") digits = randomBytes((idsPerFetch * digitsPerId) / 2).toString("hex");
  const random = digits.slice(0, digitsPerId);
  digits = digits.slice(digitsPerId);

  if (nowMs > lastMs) {
    lastMs = Math.trunc(nowMs);
    sequence = Number.parseInt(random.slice(0, 3), 16) & 0x7ff;
  } else if (sequence === 0xfff) {
    lastMs += 1;
    sequence = 0;
  } else {
    sequence += 1;
  }

  const time = lastMs.toString(16).padStart(12, "0");
  const counter = sequence.toString(16).padStart(3, "0");
  const variant = "89ab".charAt(Number.parseInt(random.charAt(3), 16) & 3);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
