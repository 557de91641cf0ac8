import { metricsMadeBy, metricsToldBelow } from "@sluice/testkit/metrics-page.ts";
import { expect, test } from "vitest";

test("every metric that a dispatcher can have is in the operator's tables, and no other", () => {
  const made = metricsMadeBy(new URL("main.ts", import.meta.url));
  expect(made).toContain("dispatch_matched_total");
  const shared = new Set(metricsToldBelow("Metrics of the ingester"));
  const told = metricsToldBelow("Metrics of the dispatcher");
  expect(told).toHaveLength(new Set(told).size);
  expect(new Set(told)).toEqual(new Set(made.filter((name) => !shared.has(name))));
});
