import { expect, test } from "vitest";
import type { Link } from "./link-store.ts";
import { StoredLink } from "./stored-link.ts";

const whole: Required<Link> = {
  id: 1,
  workspaceId: 2,
  audit: "refuse",
  domain: "a.example",
  slug: "café",
  destination: "https://example.com/caf%C3%A9?a=%20#b",
  status: 307,
  expiresAt: 1_800_000_000_000,
  disabled: true,
  startsAt: 1_700_000_000_000,
  maxClicks: 3,
  passwordHash: "unreadable",
  rules: [
    {
      countries: ["DE"],
      times: { zone: "Europe/Berlin", from: "08:00", to: "17:00" },
      destination: "https://de.example/",
    },
  ],
  variants: [
    { destination: "https://example.com/a", weight: 1 },
    { destination: "https://example.com/b", weight: 2 },
  ],
  apps: { ios: "https://example.com/app" },
  passQuery: true,
  utm: { source: "x" },
  noindex: true,
  trackConversions: true,
};

test("a link with all that it can have is the same when it is read back", () => {
  expect(StoredLink.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
});

test("one with a part that is not known is refused, and not read without it", () => {
  expect(StoredLink.safeParse({ ...whole, onlyOnTuesdays: true }).success).toBe(false);
});
