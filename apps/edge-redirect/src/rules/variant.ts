import { hash } from "node:crypto";

import type { Variant } from "@sluice/link-store/link-options.ts";

/** Which of the variants a lot (0 up to 1) falls on: its index. */
export function drawVariant(variants: readonly Variant[], lot: number): number {
  const sum = variants.reduce((total, { weight }) => total + weight, 0);
  let left = lot * sum;
  const drawn = variants.findIndex(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return drawn < 0 ? variants.length - 1 : drawn;
}

/**
 * A visitor's lot at a link, 0 up to 1. The visitor's hash in the event cannot be used: its key is a new one each day,
 * and at midnight everybody would see another variant. This key stays, and so does the lot; it is never stored. What
 * is stored, the variant's number, is a few bits: without a key, enough of them could be searched for the address.
 */
export function createLots(key: string): (linkId: number, network: string, userAgent: string) => number {
  return (linkId, network, userAgent) => {
    const digest = hash("sha256", `${key}\0${linkId}\0${network}\0${userAgent}`, "hex");
    return Number.parseInt(digest.slice(0, 12), 16) / 2 ** 48;
  };
}
