import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, it } from "vitest";
import { openPubSub } from "./open.ts";

it.each([
  ["kafka://127.0.0.1:1", /not by "kafka:"/],
  ["redis://user:secret@host:port", "REDIS_URL takes hosts like host:6379"],
  ["redis+cluster://user:secret@host", /not by "redis\+cluster:"/],
  ["postgres://user:secret@host:port", /"postgres:…" is none/],
  ["", /not by ":"/],
])("refuses %j, saying what it takes and showing no password", async (url, message) => {
  const refused = openPubSub(url, { log: silentLog, metrics: createMetrics() });
  await expect(refused).rejects.toMatchObject({ code: "misuse", retryable: false });
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.not.toThrow(/secret/);
});
