import { encodeClick } from "@sluice/click-event/encode.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";

import { run } from "../testing/run.ts";

describeWith("a replay from the command line", testClickHouse, (clickhouse) => {
  const storeUrl = () => `${clickhouse().url}/${clickhouse().database}`;

  test("stores what the log has, with the settings of the ingester, and says what it did", async () => {
    await using journal = await tempDir();
    await migrate(storeUrl(), { log: silentLog });
    const env = { EVENT_LOG_URL: `journal://${journal.path}?groups=store`, CLICK_STORE_URL: storeUrl() };
    await using events = await openEventLog(env.EVENT_LOG_URL, { log: silentLog, metrics: createMetrics() });
    await events.append("clicks", [
      { key: "run", value: encodeClick(sampleClick()) },
      { key: "run", value: Buffer.from("broken") },
    ]);
    const range = ["--from", "2020-01-01", "--to", "2100-01-01", "--rate", "1000"];
    expect(await run(env, ["replay", ...range])).toEqual({
      code: 0,
      out: ["2 records read, 0 clicks stored already, 1 stored now, 1 dead letters"],
      err: "",
    });
    expect((await run(env, ["replay", ...range])).out[0]).toContain("1 clicks stored already, 0 stored now");
  });
});

test("a log that keeps nothing that was read is not replayed, and that is said", async () => {
  const env = { EVENT_LOG_URL: "redis://127.0.0.1:1/0?groups=store", CLICK_STORE_URL: "http://127.0.0.1:1" };
  const { code, err } = await run(env, ["replay", "--from", "2026-01-01"]);
  expect({ code, err }).toEqual({
    code: 1,
    err: "sluice: only a journal or Kafka keeps what was read; this event log has nothing to replay",
  });
});

test.each([
  [["replay"], "say from when: --from"],
  [["replay", "--from", "2026-01-01", "--dry-run"], "say from when: --from"],
  [["replay", "--fan-out", "--owed"], "only a journal notes what it owes; EVENT_LOG_URL is of another log"],
])("what cannot be replayed is said: %s", async (args, message) => {
  const env = { EVENT_LOG_URL: "kafka://127.0.0.1:1", CLICK_STORE_URL: "http://127.0.0.1:1" };
  const { code, err } = await run(env, args);
  expect(code).toBe(1);
  expect(err).toContain(message);
});
