import { metricsMadeBy, metricsToldBelow } from "@sluice/testkit/metrics-page.ts";
import { expect, test } from "vitest";

test("every metric that an ingester can have is in the operator's table, and no other", () => {
  const made = metricsMadeBy(new URL("main.ts", import.meta.url));
  expect(made).toContain("event_log_pending_records");
  const told = metricsToldBelow("Metrics of the ingester");
  expect(told).toHaveLength(new Set(told).size);
  expect(new Set(told)).toEqual(new Set(made));
});
