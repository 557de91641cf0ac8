import type { Link } from "@sluice/link-store/link-store.ts";
import { expect, it } from "vitest";

import { createPreparedLinks } from "./prepared-links.ts";

const link: Link = {
  id: 1,
  workspaceId: 1,
  domain: "go.example.com",
  slug: "x",
  destination: "https://example.com/",
  status: 302,
  disabled: false,
};

it("a link is prepared once, and again when it has changed, with rules or without", () => {
  const prepare = createPreparedLinks(32 * 1024 ** 2);
  const versions: readonly Link[] = [link, { ...link, passQuery: true }, { ...link, noindex: true }];
  for (const version of [...versions, ...versions]) {
    const prepared = prepare(version);
    expect(prepared.link).toBe(version);
    expect(prepared.plan === undefined).toBe(version.passQuery === undefined);
    expect(prepare(version)).toBe(prepared);
  }
});

/** Some 800 kB. */
function large(id: number): Link {
  const rules = Array.from({ length: 50 }, (_, rule) => ({
    countries: ["DE"],
    destination: `https://example.com/${rule}/${"x".repeat(16_000)}`,
  }));
  return { ...link, id, rules };
}

it("links with many long destinations push each other out before they fill the memory, and are prepared again", () => {
  for (const [megabytes, stays] of [
    [32, false],
    [128, true],
  ] as const) {
    const prepare = createPreparedLinks(megabytes * 1024 ** 2);
    const first = large(1);
    const prepared = prepare(first);
    for (let id = 2; id <= 30; id += 1) prepare(large(id));
    expect(prepare(first) === prepared).toBe(stays);
  }
});
