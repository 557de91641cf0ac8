import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import { keepTidy } from "./keep-tidy.ts";
import { retryMetrics } from "./metrics.ts";

test("facts row 8: however silently retries have stopped, the age of the oldest due one says so", async () => {
  const stop = new AbortController();
  const registry = createMetrics();
  const oldestDueAt = Date.now() - 3_600_000;
  await keepTidy({
    store: {
      backlog: async () => ({ parked: 2, dead: 1, oldestDueAt }),
      async sweep() {
        stop.abort();
        return false;
      },
    },
    metrics: retryMetrics(registry),
    health: { degraded() {} },
    signal: stop.signal,
  });
  const { body } = await registry.render();
  expect(Number(/^retry_oldest_due_seconds (\S+)/m.exec(body)?.[1])).toBeGreaterThanOrEqual(3_600);
  expect(body).toContain("retry_parked 2");
});
