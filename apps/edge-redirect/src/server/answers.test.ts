import type { Link } from "@sluice/link-store/link-store.ts";
import { expect, it } from "vitest";

import { redirectTo } from "./answers.ts";

const link: Link = {
  id: 1,
  workspaceId: 1,
  domain: "go.example.com",
  slug: "x",
  destination: "https://example.com/?q=%23Eurovision#Tab0-9",
  status: 302,
  disabled: false,
};

it.each([
  [302, "private, no-store"],
  [307, "private, no-store"],
  // D1
  [301, "private, max-age=30"],
  [308, "private, max-age=30"],
] as const)("a %i is kept by nobody for long: %s", (status, cacheControl) => {
  const answer = redirectTo(link.destination, { ...link, status });
  expect(answer).toEqual({
    status,
    headers: ["Location", link.destination, "Cache-Control", cacheControl, "Content-Length", "0"],
    body: undefined,
  });
});
