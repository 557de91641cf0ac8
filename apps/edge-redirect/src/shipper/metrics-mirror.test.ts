import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, it } from "vitest";

import { createMetricsMirror } from "./metrics-mirror.ts";

it("what a thread counts is in the service's own metrics, once", async () => {
  const thread = createMetrics();
  const service = createMetrics();
  const mirror = createMetricsMirror(service);
  const refresh = async () => mirror((await thread.render()).body);

  const records = thread.counter("records_total", "Records", ["topic"]);
  const lag = thread.gauge("lag_bytes", "Lag");
  records.inc({ topic: 'a"b\\c' }, 3);
  lag.set(7);
  await refresh();
  records.inc({ topic: 'a"b\\c' });
  records.inc({ topic: "other" }, 2.5);
  lag.set(5);
  await refresh();
  await refresh();

  expect((await service.render()).body).toBe((await thread.render()).body);
});

it("a thread that starts anew counts on from where the one before it ended", async () => {
  const service = createMetrics();
  for (const count of [3, 4]) {
    const thread = createMetrics();
    thread.counter("records_total", "Records").inc(count);
    createMetricsMirror(service)((await thread.render()).body);
  }
  expect((await service.render()).body).toContain("records_total 7");
});
