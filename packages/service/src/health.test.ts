import { expect, test } from "vitest";

import { createHealth } from "./health.ts";
import { silentLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";

function open() {
  const metrics = createMetrics();
  let clock = 0;
  const health = createHealth({ log: silentLog, metrics, now: () => clock, timeLimitMs: 20 });
  return { health, metrics, later: (ms: number) => (clock += ms) };
}

test("not ready until the start is over, whatever the checks say; not ready again from the drain on", async () => {
  const { health } = open();
  health.check("a", async () => {});
  expect((await health.report()).status).toBe("starting");
  health.ready();
  expect((await health.report()).status).toBe("ready");
  health.drain();
  health.ready();
  expect((await health.report()).status).toBe("draining");
});

test("a probe is asked at most once a second and never twice at a time", async () => {
  const { health, later } = open();
  let asked = 0;
  const answer = Promise.withResolvers<void>();
  health.check("a", () => {
    asked++;
    return answer.promise;
  });
  const reports = [health.report(), health.report()];
  answer.resolve();
  await Promise.all(reports);
  later(999);
  await health.report();
  expect(asked).toBe(1);
  later(1);
  await health.report();
  expect(asked).toBe(2);
});

test("a probe without an answer fails after its time limit, is not asked again meanwhile, and may recover", async () => {
  const { health, later } = open();
  let asked = 0;
  const answer = Promise.withResolvers<void>();
  health.check("a", () => {
    asked++;
    return answer.promise;
  });
  health.ready();
  const late = { up: false, required: true, reason: "no answer within 20 ms" };
  expect(await health.report()).toMatchObject({ status: "failing", checks: { a: late } });
  later(5000);
  // Nobody waits for it a second time.
  const again = await Promise.race([health.report(), new Promise(setImmediate)]);
  expect(again).toMatchObject({ status: "failing", checks: { a: late } });
  expect(asked).toBe(1);
  answer.resolve();
  await answer.promise;
  await new Promise(setImmediate);
  expect((await health.report()).status).toBe("ready");
});

test("a probe that throws instead of rejecting fails like any other", async () => {
  const { health } = open();
  health.check("a", () => {
    throw new Error("at once");
  });
  expect((await health.report()).checks).toEqual({ a: { up: false, required: true, reason: "at once" } });
});

test("doing without something is said in the body and in a metric, and leaves the service ready", async () => {
  const { health, metrics } = open();
  health.ready();
  health.degraded("disk", "full");
  expect(await health.report()).toEqual({ status: "degraded", checks: {}, degraded: { disk: "full" } });
  expect((await metrics.render()).body).toContain('sluice_degraded{what="disk"} 1');
  expect((await metrics.render()).body).toContain("sluice_ready 1");
  health.degraded("disk", undefined);
  expect(await health.report()).toEqual({ status: "ready", checks: {}, degraded: {} });
  expect((await metrics.render()).body).toContain('sluice_degraded{what="disk"} 0');
});
