import * as fc from "fast-check";
import { expect, test } from "vitest";
import { interestsOf, isWanted } from "./interests.ts";

const subscriptions = fc.array(
  fc.record(
    {
      workspaceId: fc.integer({ min: 1, max: 3 }),
      linkIds: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 3 }),
      includeBots: fc.boolean(),
      includeOptedOut: fc.boolean(),
    },
    { requiredKeys: ["workspaceId", "includeBots", "includeOptedOut"] },
  ),
  { maxLength: 6 },
);
const clicks = fc.record({
  workspace_id: fc.integer({ min: 1, max: 4 }),
  link_id: fc.integer({ min: 1, max: 6 }),
  gpc: fc.boolean(),
  is_bot: fc.boolean(),
});

test("a click is wanted if, and only if, one of its workspace's subscriptions takes it", () => {
  fc.assert(
    fc.property(subscriptions, clicks, (all, click) => {
      const taking = all.filter(
        ({ workspaceId, linkIds, includeBots, includeOptedOut }) =>
          workspaceId === click.workspace_id &&
          (linkIds === undefined || linkIds.includes(click.link_id)) &&
          (includeBots || !click.is_bot) &&
          (includeOptedOut || !click.gpc),
      );
      const interest = interestsOf(all).get(click.workspace_id);
      expect(interest !== undefined && isWanted(interest, click, click)).toBe(taking.length > 0);
    }),
    { numRuns: 2_000 },
  );
});
