import { randomFillSync } from "node:crypto";

/** Random bytes are fetched for so many ids at once: a call for each would cost more than the rest of the id. */
const idsPerFetch = 512;
const bytesPerId = 10;

const pool = Buffer.alloc(idsPerFetch * bytesPerId);
const counterDigits = Array.from({ length: 0x1000 }, (_, value) => value.toString(16).padStart(3, "0"));

/** The pool in hex, and how many of its bytes have been used. */
let digits = "";
let used = pool.length;
let lastMs = 0;
let sequence = 0;
/** All that stands before the counter: the same for a whole millisecond. */
let head = "";

/**
 * A UUIDv7 (RFC 9562, 5.7) in its usual lower-case form. Ids of one process ascend as strings: within a
 * millisecond by a 12-bit counter that starts anywhere in its lower half (6.2, method 1); when the clock steps
 * back, or the counter is full, by keeping or advancing the last time used. 62 bits are random.
 */
export function uuidv7(nowMs: number): string {
  if (used === pool.length) {
    digits = randomFillSync(pool).toString("hex");
    used = 0;
  }
  const at = used;
  used += bytesPerId;

  if (nowMs > lastMs) begin(Math.trunc(nowMs), pool.readUInt16LE(at) & 0x7ff);
  else if (sequence === 0xfff) begin(lastMs + 1, 0);
  else sequence += 1;

  const variant = "89ab".charAt(pool.readUInt8(at + 2) >> 6);
  const random = 2 * at + 5;
  return `${head}${counterDigits[sequence]}-${variant}${digits.slice(random, random + 3)}-${digits.slice(random + 3, random + 15)}`;
}

function begin(ms: number, first: number): void {
  lastMs = ms;
  sequence = first;
  const time = ms.toString(16).padStart(12, "0");
  head = `${time.slice(0, 8)}-${time.slice(8)}-7`;
}
