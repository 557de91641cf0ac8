import { pick, type Random } from "./random.ts";

export interface ShortLink {
  readonly domain: string;
  readonly slug: string;
  readonly destination: string;
}

const domains = ["go.example.com", "example.link", "s.example.org", "news.example.net"];
const paths = ["products", "blog/2026", "collections/summer", "help/articles", "events", "campaigns/launch"];
const names = ["an-ordinary-page", "everything-about-short-links-in-one-place", "sale", "how-it-works-2"];

/** Links as customers make them: seven letters that lead to some hundred. */
export function createLinks(random: Random, count: number): ShortLink[] {
  return Array.from({ length: count }, (_, index) => ({
    domain: pick(random, domains),
    // From 36^6 on a number has seven digits in base 36.
    slug: (index + 36 ** 6).toString(36),
    destination: `https://www.shop-${index % 97}.example.com/${pick(random, paths)}/${pick(random, names)}-${index}?ref=short&campaign=${index % 31}`,
  }));
}
