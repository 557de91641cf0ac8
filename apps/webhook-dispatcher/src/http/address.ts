import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Who may be sent to it: anybody; targets that the operator lets reach private networks; nobody. */
export type AddressClass = "public" | "private" | "never";

/**
 * What kind of address it is, as text that `isIP` takes. What is not known to be public is refused: an address that holds
 * an IPv4 address goes nowhere that the IPv4 address itself could not be asked for, so only NAT64's well-known prefix,
 * which a network without IPv4 needs, is looked into.
 */
export function classOf(address: string): AddressClass {
  if (isIP(address) === 0 || metadata.has(address)) return "never";
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (grantable.has(range)) return metadata.has(parsed.toString()) ? "never" : "private";
  if (parsed instanceof ipaddr.IPv4) return range === "unicast" ? "public" : "never";
  if (parsed.match(nat64)) return classOf(embedded(parsed)) === "public" ? "public" : "never";
  return range === "unicast" && parsed.match(globalUnicast) && !parsed.match(sixBone) ? "public" : "never";
}

/**
 * Where clouds tell a machine its credentials, outside link-local: AWS and GCP by IPv6, Alibaba, Azure (168.63.129.16
 * would be public).
 */
const metadata = new Set(["fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16"]);

const grantable = new Set(["private", "loopback", "uniqueLocal", "carrierGradeNat"]);

/** RFC 6052. */
const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
/** RFC 4291: all of IPv6 that has been given out; IPv4-compatible addresses, for one, are outside. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
/** Given back in 2006 (RFC 3701). */
const sixBone = ipaddr.IPv6.parseCIDR("3ffe::/16");

function embedded(address: ipaddr.IPv6): string {
  return address.toByteArray().slice(12).join(".");
}
