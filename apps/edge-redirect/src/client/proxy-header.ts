import { isIPv4, isIPv6 } from "node:net";

import { parseAddress } from "./address.ts";

/** What the first bytes of a connection say under the PROXY protocol. */
export type ProxyHeader =
  /** It is not all there yet. */
  | { readonly kind: "partial" }
  /** `source` is the visitor's address; without one the balancer asks for itself. `bytes` is its length. */
  | { readonly kind: "whole"; readonly source: string | undefined; readonly bytes: number }
  | { readonly kind: "refused" };

const partial: ProxyHeader = { kind: "partial" };
const refused: ProxyHeader = { kind: "refused" };

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const fixedBytes = 16;
/** What can follow the fixed part: addresses, and TLVs of which a client's certificate is the largest. */
const maxTailBytes = 4096;
/** Its line end included. */
const maxLineBytes = 107;
export const maxProxyHeaderBytes = fixedBytes + maxTailBytes;

/**
 * Reads a header of version 1 or 2 at the start of `bytes`, as HAProxy's `proxy-protocol.txt` defines it; never throws.
 * TLVs are passed over. Families other than TCP over IPv4 and IPv6 name no visitor.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const compared = Math.min(bytes.length, signature.length);
  if (bytes.compare(signature, 0, compared, 0, compared) === 0) return readBinary(bytes);
  const begin = bytes.toString("latin1", 0, Math.min(bytes.length, linePrefix.length));
  return linePrefix.startsWith(begin) ? readLine(bytes) : refused;
}

const linePrefix = "PROXY ";
const line = /^PROXY (?:UNKNOWN(?: .*)?|(TCP[46]) (\S+) (\S+) (\d{1,5}) (\d{1,5}))$/;

function readLine(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, maxLineBytes).indexOf("\r\n");
  if (end < 0) return bytes.length < maxLineBytes ? partial : refused;
  const said = line.exec(bytes.toString("latin1", 0, end));
  if (said === null) return refused;
  const [, family, from = "", to = ""] = said;
  if (family === undefined) return { kind: "whole", source: undefined, bytes: end + 2 };
  const isAddress = family === "TCP4" ? isIPv4 : isIPv6;
  if (!isAddress(from) || !isAddress(to)) return refused;
  return { kind: "whole", source: parseAddress(from), bytes: end + 2 };
}

function readBinary(bytes: Buffer): ProxyHeader {
  if (bytes.length < fixedBytes) return partial;
  const [command, family] = [bytes.readUInt8(12), bytes.readUInt8(13)];
  const tailBytes = bytes.readUInt16BE(14);
  // Version 2; LOCAL is the balancer's own check, PROXY speaks for a visitor.
  if ((command !== 0x20 && command !== 0x21) || tailBytes > maxTailBytes) return refused;
  const end = fixedBytes + tailBytes;
  if (bytes.length < end) return partial;
  const width = command === 0x20 ? 0 : addressBytes(family);
  if (tailBytes < 2 * width + (width === 0 ? 0 : 4)) return refused;
  return { kind: "whole", source: width === 0 ? undefined : addressIn(bytes, width), bytes: end };
}

/** 0 for UDP, Unix sockets and what is unspecified. */
function addressBytes(family: number): 0 | 4 | 16 {
  if (family === 0x11) return 4;
  return family === 0x21 ? 16 : 0;
}

function addressIn(bytes: Buffer, width: 4 | 16): string | undefined {
  const source = bytes.subarray(fixedBytes, fixedBytes + width);
  if (width === 4) return source.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => source.readUInt16BE(2 * index).toString(16));
  return parseAddress(groups.join(":"));
}
