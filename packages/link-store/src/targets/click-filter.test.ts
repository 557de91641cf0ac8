import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type FilteredClick, wants } from "./click-filter.ts";
import type { ClickFilter } from "./target.ts";

const linkId = fc.integer({ min: 1, max: 4 });
const domain = fc.constantFrom("a.example", "b.example", "c.example");
const country = fc.constantFrom("", "DE", "FR", "US");

const clicks: fc.Arbitrary<FilteredClick> = fc.record({
  link_id: linkId,
  domain,
  country,
  gpc: fc.boolean(),
  is_bot: fc.boolean(),
});
const filters: fc.Arbitrary<ClickFilter> = fc.record(
  {
    linkIds: fc.uniqueArray(linkId, { minLength: 1 }),
    domains: fc.uniqueArray(domain, { minLength: 1 }),
    countries: fc.uniqueArray(country, { minLength: 1 }),
    includeBots: fc.boolean(),
    includeOptedOut: fc.boolean(),
  },
  { requiredKeys: ["includeBots", "includeOptedOut"] },
);

test("by default a click of a person who did not opt out is wanted, and no other", () => {
  fc.assert(
    fc.property(clicks, (click) => {
      const wanted = wants({ includeBots: false, includeOptedOut: false }, click);
      expect(wanted).toBe(!click.is_bot && !click.gpc);
    }),
  );
});

test("a click is wanted when every part of the filter lets it through, each alone", () => {
  const everyone = { includeBots: true, includeOptedOut: true };
  fc.assert(
    fc.property(filters, clicks, (whole, click) => {
      const { linkIds, domains, countries, includeBots, includeOptedOut } = whole;
      const parts: ClickFilter[] = [
        { ...everyone, includeBots },
        { ...everyone, includeOptedOut },
        { ...everyone, ...(linkIds && { linkIds }) },
        { ...everyone, ...(domains && { domains }) },
        { ...everyone, ...(countries && { countries }) },
      ];
      expect(wants(whole, click)).toBe(parts.every((part) => wants(part, click)));
    }),
  );
});

test("a list lets through what is in it and nothing else", () => {
  const everyone = { includeBots: true, includeOptedOut: true };
  fc.assert(
    fc.property(filters, clicks, ({ linkIds = [1], domains = ["a.example"], countries = ["DE"] }, click) => {
      expect(wants({ ...everyone, linkIds }, click)).toBe(linkIds.some((id) => id === click.link_id));
      expect(wants({ ...everyone, domains }, click)).toBe(domains.some((name) => name === click.domain));
      expect(wants({ ...everyone, countries }, click)).toBe(countries.some((code) => code === click.country));
    }),
  );
});
