import { openAttemptLog, openAttempts } from "@sluice/click-store/attempts.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { sampleAttempt } from "@sluice/click-store/testing/attempts.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, test } from "vitest";
import { createAttemptLog } from "./attempt-log.ts";
import { attemptLogMetrics } from "./metrics.ts";

const deps = { log: silentLog, metrics: createMetrics() };

describeWith("the attempt log", testPostgres, (postgres) => {
  test("with the store away for a while each attempt is in it once, at the end", async () => {
    const { url } = postgres();
    await migrate(url, deps);
    await using proxy = await openTcpProxy(url);
    await using store = await openAttemptLog(proxy.url, deps);
    const metrics = attemptLogMetrics(deps.metrics);
    const log = createAttemptLog({ write: store.write.bind(store), metrics, log: silentLog, maxWaitMs: 10 });
    const ts = Date.now();
    const add = (from: number, to: number) => {
      for (let index = from; index < to; index += 1) log.add(sampleAttempt({ ts }));
    };
    await using table = await openAttempts(url);
    const stored = async () => {
      const range = { fromTs: ts - 1, toTs: ts + 1 };
      const [sums] = await table.summary(range, { limit: 1 }, AbortSignal.timeout(10_000));
      return sums?.attempts ?? 0;
    };
    add(0, 2_500);
    await expect.poll(stored, { timeout: 10_000 }).toBe(2_500);
    proxy.refuse();
    add(2_500, 5_000);
    const written = async () => (await metrics.written.get()).values[0]?.value;
    expect(await written()).toBe(2_500);
    proxy.flow();
    await log.close(20_000);
    expect(await stored()).toBe(5_000);
  });
});
