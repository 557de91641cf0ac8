import { isIPv4, isIPv6, SocketAddress } from "node:net";

/**
 * The address that a header names, in the one form in which a socket would name it, or `undefined` when it names none.
 * Takes what proxies write: with a port (`192.0.2.1:443`), in brackets (`[2001:db8::1]:443`), with a zone
 * (`fe80::1%eth0`), an IPv4 address inside an IPv6 one.
 */
export function parseAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, v4 = "", v6 = ""] = /^(?:([\d.]{7,15}):\d{1,5}|\[([^\]]{2,64})\](?::\d{1,5})?)$/.exec(text) ?? [];
  if (v4 !== "") return isIPv4(v4) ? v4 : undefined;
  return canonicalV6(v6 === "" ? text : v6);
}

function canonicalV6(text: string): string | undefined {
  const [address = ""] = text.split("%", 1);
  if (!isIPv6(address)) return undefined;
  return unmap(new SocketAddress({ address, family: "ipv6" }).address);
}

/**
 * An IPv4 address that comes as an IPv6 one, which is how a socket open to both kinds names it: mapped
 * (`::ffff:192.0.2.1`, RFC 4291) or translated (`::ffff:0:c000:201`, RFC 2765). Any other as it is.
 */
export function unmap(address: string): string {
  if (!address.startsWith("::ffff:") && !address.startsWith("::FFFF:")) return address;
  const rest = address.slice("::ffff:".length);
  if (rest.includes(".")) return rest.startsWith("0:") ? rest.slice(2) : rest;
  const [, high, low] = /^0:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(rest) ?? [];
  if (high === undefined || low === undefined) return address;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

/**
 * Private, carrier-grade NAT, loopback, link-local and unspecified addresses (RFC 6890): nobody on the internet has
 * one, and some databases say a country for them.
 */
const notPublic =
  /^(?:0|10|127)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^::1?$|^f[cd]|^fe[89ab]/i;

/** Takes an address as `unmap` gives it. */
export function isPublic(address: string): boolean {
  return address !== "" && !notPublic.test(address);
}
