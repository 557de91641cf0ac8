import { BlockList, isIPv4, isIPv6 } from "node:net";

import { createRecent } from "../recent.ts";

/** Whether a machine's word about others is taken. Takes an address as `unmap` gives it. */
export type IsTrusted = (address: string) => boolean;

/** Networks by a name, so that nobody has to look them up. */
export const presets = {
  loopback: ["127.0.0.0/8", "::1"],
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
  // https://www.cloudflare.com/ips, as of 2023-09; changes are announced there a month before.
  cloudflare: [
    ..."173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18".split(" "),
    ..."108.162.192.0/18 190.93.240.0/20 188.114.96.0/20 197.234.240.0/22 198.41.128.0/17".split(" "),
    ..."162.158.0.0/15 104.16.0.0/13 104.24.0.0/14 172.64.0.0/13 131.0.72.0/22".split(" "),
    ..."2400:cb00::/32 2606:4700::/32 2803:f800::/32 2405:b500::/32 2405:8100::/32".split(" "),
    ..."2a06:98c0::/29 2c0f:f248::/32".split(" "),
  ],
} as const;
const presetNames = new Map<string, readonly string[]>(Object.entries(presets));

/** An edge meets a handful of proxies; the bound is for addresses that visitors make up in headers. */
const maxRemembered = 1_000;

/** One entry of the list is wrong: its message names the entry, the rule and what would do. */
export class BadProxyError extends Error {
  override readonly name = "BadProxyError";
}

/**
 * Of a list of addresses, networks (`10.0.0.0/8`) and preset names. Throws a BadProxyError. Node's own BlockList does
 * the arithmetic: a library would bring a parser and classes of addresses besides, and nothing here needs them.
 */
export function trustProxies(entries: readonly string[]): IsTrusted {
  const networks = new BlockList();
  for (const entry of entries.flatMap((each) => presetNames.get(each.toLowerCase()) ?? [each])) {
    addNetwork(networks, entry);
  }
  const known = createRecent<string, boolean>(maxRemembered);
  return (address) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    const trusted = isIPv4(address)
      ? networks.check(address)
      : isIPv6(address) && networks.check(address, "ipv6");
    known.set(address, trusted);
    return trusted;
  };
}

function addNetwork(networks: BlockList, entry: string): void {
  const [address = "", prefix, ...more] = entry.split("/");
  const family = isIPv4(address) ? "ipv4" : isIPv6(address) && !address.includes("%") ? "ipv6" : undefined;
  if (family === undefined || more.length > 0) {
    throw bad(
      entry,
      `an address, a network such as 10.0.0.0/8, or one of ${[...presetNames.keys()].join(", ")}`,
    );
  }
  const bits = family === "ipv4" ? 32 : 128;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  // With everybody trusted, anybody could say to be anybody.
  if (!(length >= 1 && length <= bits)) throw bad(entry, `a prefix of 1 to ${bits} bits behind the slash`);
  networks.addSubnet(address, length, family);
}

function bad(entry: string, rule: string): BadProxyError {
  return new BadProxyError(`${JSON.stringify(entry)} is no proxy: takes ${rule}`);
}
