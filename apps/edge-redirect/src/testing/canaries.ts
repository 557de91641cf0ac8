/**
 * Addresses that nobody else uses, and the search for them. Number n from 0 to 16,383 is an address of each kind; those of
 * a kind begin alike, so that all of them are found by one look at what was written.
 */
export interface Canary {
  /** To come from: one of 127.0.0.0/8. */
  readonly peer: string;
  /** To be named by a proxy: of the network for benchmarks (RFC 2544), and of the one for documentation (RFC 3849). */
  readonly v4: string;
  readonly v6: string;
}

const half = 128;
export const maxCanaries = half * half;

export function canary(number: number): Canary {
  // Bytes that are no ASCII, so that text is not taken for them.
  const [third, fourth] = [half + Math.floor(number / half), half + (number % half)];
  return {
    peer: `127.200.${third}.${fourth}`,
    v4: `198.19.${third}.${fourth}`,
    v6: `2001:db8:ca7a:${(0x1000 + number).toString(16)}:dead:beef:0:1`,
  };
}

/**
 * How an address of theirs begins, wherever one is written with its marks; of IPv4 inside IPv6, also in hex; and how it
 * ends backwards, as DNS names it.
 */
const beginnings =
  "127.200. 198.19. 2001:db8:ca7a: 2001:0db8:ca7a: 20010db8ca7a ffff:7fc8: ffff:c613: ffff7fc8 ffffc613 .200.127. .19.198.".split(
    " ",
  );

export interface Found {
  /** Texts and bytes that cannot be anything else. */
  readonly written: readonly string[];
  /** Numbers, hex digits and bytes that are one of them, or random and alike: once in a hundred thousand is. */
  readonly alike: number;
}

/**
 * What of them is in `bytes`, in any notation: dotted, mapped, in hex, as a number, as bytes in either order, and the /64
 * of an IPv6 address.
 */
export function findCanaries(bytes: Buffer): Found {
  const numbers = new Set<number>();
  for (let number = 0; number < maxCanaries; number += 1) {
    const { peer, v4 } = canary(number);
    for (const address of [peer, v4]) numbers.add(asNumber(address));
  }
  // The second one without zeros: a text of two bytes a character is read as well.
  const texts = [textOf(bytes), textOf(bytes.filter((byte) => byte !== 0))];
  const written = beginnings.filter((beginning) => texts.some((text) => text.includes(beginning)));
  return {
    written: bytes.includes(Buffer.from("20010db8ca7a", "hex")) ? [...written, "bytes"] : written,
    alike: texts.reduce((sum, text) => sum + countInText(text, numbers), 0) + countBytes(bytes, numbers),
  };
}

function asNumber(address: string): number {
  return address.split(".").reduce((value, part) => value * 256 + Number(part), 0);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1").toLowerCase();
}

function countInText(text: string, numbers: ReadonlySet<number>): number {
  let count = 0;
  for (const [, digits = ""] of text.matchAll(/(?=((?:7fc8|c613|0x7fc8|0xc613)[\da-f]{4}))/g)) {
    if (numbers.has(Number.parseInt(digits.slice(-8), 16))) count += 1;
  }
  for (const [digits] of text.matchAll(/\d{10}\d*/g)) if (numbers.has(Number(digits))) count += 1;
  return count;
}

function countBytes(bytes: Buffer, numbers: ReadonlySet<number>): number {
  let count = 0;
  for (let at = 0; at + 4 <= bytes.length; at += 1) {
    if (numbers.has(bytes.readUInt32BE(at)) || numbers.has(bytes.readUInt32LE(at))) count += 1;
  }
  return count;
}
