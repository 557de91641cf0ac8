import type { IncomingMessage } from "node:http";

import { parseAddress, unmap } from "./address.ts";
import { parseForwarded } from "./forwarded.ts";
import type { IsTrusted } from "./trusted-proxies.ts";

/**
 * Who asks, as `unmap` gives an address: the peer, or whom a trusted proxy names; empty when that proxy names nobody
 * in particular. It must not leave memory.
 */
export type ClientAddress = (request: Pick<IncomingMessage, "headers" | "socket">) => string;

/** More proxies than that stand in no row; the bound is for lists that visitors make up. */
const maxHops = 16;

/** Whoever connects. Headers are not looked at: anybody can write them. */
export const peerAddress: ClientAddress = ({ socket }) => socket.remoteAddress ?? "";

/**
 * Believes what trusted proxies say in `header`: `x-forwarded-for` and `forwarded` are read from the right, over
 * trusted proxies to the first address that is none; any other header names one address. Where it is missing, the
 * proxy itself asks.
 */
export function believeProxies(isTrusted: IsTrusted, header: string): ClientAddress {
  const read = readerOf(header, isTrusted);
  // The limit of requests and the click ask one after the other.
  let asked: object | undefined;
  let address = "";

  function find({ headers, socket }: Parameters<ClientAddress>[0]): string {
    const peer = unmap(socket.remoteAddress ?? "");
    if (!isTrusted(peer)) return peer;
    // Node joins the lines of a repeated header with commas, in their order.
    const value = headers[header];
    return typeof value === "string" && value !== "" ? read(value) : peer;
  }
  return (request) => {
    if (request === asked) return address;
    asked = request;
    address = find(request);
    return address;
  };
}

function readerOf(header: string, isTrusted: IsTrusted): (value: string) => string {
  switch (header) {
    case "x-forwarded-for":
      return (value) => firstUntrusted(value.split(","), isTrusted);
    case "forwarded":
      return (value) => firstUntrusted(parseForwarded(value), isTrusted);
    default:
      return (value) => parseAddress(value.trim()) ?? "";
  }
}

/**
 * From the right, because each proxy writes behind what it was given. When all are trusted it is the farthest; where
 * a trusted proxy names no address (`unknown`, `_hidden`, garbage), nobody knows who was before it.
 */
function firstUntrusted(hops: readonly string[], isTrusted: IsTrusted): string {
  let farthest = "";
  for (const hop of hops.slice(-maxHops).toReversed()) {
    const text = hop.trim();
    // An empty element of a list counts for nothing (RFC 9110, 5.6.1).
    if (text === "") continue;
    farthest = parseAddress(text) ?? "";
    if (!isTrusted(farthest)) return farthest;
  }
  return farthest;
}
