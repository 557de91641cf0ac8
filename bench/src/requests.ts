import type { ShortLink } from "./links.ts";
import { pickSkewed, type Random } from "./random.ts";
import { createVisitors, type Visitor } from "./visitors.ts";

/** Ends each request in the file that `wrk.lua` reads. */
export const separator = "\0";

/** So many requests, ready to be sent: every header that a browser sends when a person follows a link. */
export function createRequests(random: Random, links: readonly ShortLink[], count: number): string[] {
  const visitor = createVisitors(random);
  return Array.from({ length: count }, () => encodeRequest(pickSkewed(random, links), visitor()));
}

/** One for each link, in their order. */
export function createRequestsForEach(random: Random, links: readonly ShortLink[]): string[] {
  const visitor = createVisitors(random);
  return links.map((link) => encodeRequest(link, visitor()));
}

function encodeRequest({ domain, slug }: ShortLink, visitor: Visitor): string {
  const { hints } = visitor;
  const path = visitor.query === "" ? `/${slug}` : `/${slug}?${visitor.query}`;
  const headers: [string, string | undefined][] = [
    ["Host", domain],
    ["sec-ch-ua", hints["brands"]],
    ["sec-ch-ua-mobile", hints["mobile"]],
    ["sec-ch-ua-platform", hints["platform"]],
    ["Upgrade-Insecure-Requests", "1"],
    ["User-Agent", visitor.userAgent],
    ["Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"],
    ["Sec-Fetch-Site", visitor.referrer === "" ? "none" : "cross-site"],
    ["Sec-Fetch-Mode", "navigate"],
    ["Sec-Fetch-User", "?1"],
    ["Sec-Fetch-Dest", "document"],
    ["Referer", visitor.referrer === "" ? undefined : visitor.referrer],
    ["Accept-Encoding", "gzip, deflate, br, zstd"],
    ["Accept-Language", visitor.acceptLanguage],
  ];
  const lines = headers.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]));
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
