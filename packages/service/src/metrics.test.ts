import { expect, test } from "vitest";

import { createMetrics } from "./metrics.ts";

test("asking twice for a metric gives the same one, so that two adapters in one process share it", async () => {
  const metrics = createMetrics();
  metrics.counter("x_total", "x", ["a"]).inc({ a: "1" });
  metrics.counter("x_total", "x", ["a"]).inc({ a: "1" });
  expect((await metrics.render()).body).toContain('x_total{a="1"} 2');
});

test("one name for two kinds of metric is a bug and throws", () => {
  const metrics = createMetrics();
  metrics.counter("x_total", "x");
  expect(() => metrics.gauge("x_total", "x")).toThrow("already been registered");
});

test("a counter whose labels' values are known is there at 0 before anything has happened", async () => {
  const metrics = createMetrics();
  metrics.counter("x_total", "x", { kind: ["a", "b"], reason: ["late"] }).inc({ kind: "b", reason: "late" });
  const { body } = await metrics.render();
  expect(body).toContain('x_total{kind="a",reason="late"} 0');
  expect(body).toContain('x_total{kind="b",reason="late"} 1');
});
