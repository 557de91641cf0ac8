import { isIPv4 } from "node:net";
import { domainToASCII } from "node:url";

/** RFC 1035: labels of at most 63, 253 in all. An IPv4 address is one too, for a machine without a name. */
const hostname =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** What `domainToASCII` would take as the end of a name, decode, or drop. */
const foreign = /[/?#@\\:[\]%\s\p{Cc}]/u;

/**
 * The one form in which a domain is stored, compared and cached: lower-case ASCII (punycode), no port, no final
 * dot. `undefined` when it is no host name. Takes what a Host header says, port and all.
 */
export function normaliseDomain(host: string): string | undefined {
  const name = host.replace(/:\d{1,5}$/, "").replace(/\.$/, "");
  if (hostname.test(name)) return name;
  if (foreign.test(name)) return undefined;
  const ascii = domainToASCII(name);
  return hostname.test(ascii) ? ascii : undefined;
}

/** Names that no DNS can vouch for, because they mean the machine itself (RFC 6761) or are an address. */
export function isLocalDomain(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIPv4(name);
}
