import { normaliseDomain } from "./domain.ts";
import type { LinkOptions } from "./link-options.ts";

/** The hosts to which a link may lead on the web, in the form of domains: none of them may be a domain of our own. */
export function webHostsOf(destination: string | undefined, options: LinkOptions): string[] {
  const { rules = [], variants = [], apps = {} } = options;
  const targets = [
    destination,
    apps.ios,
    apps.android,
    ...[...rules, ...variants].map((part) => part.destination),
  ];
  const hosts = targets.map((href) => (href === undefined ? undefined : webHost(href)));
  return [...new Set(hosts.filter((host) => host !== undefined))];
}

/** `href` is as `normaliseDestination` gives it, which has brought every notation of an IPv4 address but one to one. */
export function webHost(href: string): string | undefined {
  const { protocol, hostname } = new URL(href);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  const [, high = "", low = ""] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === "") return normaliseDomain(hostname);
  return [high, low].flatMap((half) => [parseInt(half, 16) >> 8, parseInt(half, 16) & 0xff]).join(".");
}
