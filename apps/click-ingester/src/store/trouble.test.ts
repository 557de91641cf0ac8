import type { Trouble } from "@sluice/click-store/click-store.ts";
import { type Log, silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describe, expect, test } from "vitest";
import { ingestMetrics } from "./metrics.ts";
import { createTroubleWatch } from "./trouble.ts";

const down: Trouble = { class: "retry", code: 0, message: "connection refused", attempt: 1 };
const noTable: Trouble = { class: "operator", code: 60, message: "no such table", attempt: 1 };

function open() {
  const clock = { ms: 0 };
  const lines: string[] = [];
  const log: Log = {
    ...silentLog,
    info: (_, message) => lines.push(`info ${message}`),
    warn: (_, message) => lines.push(`warn ${message}`),
    error: (_, message) => lines.push(`error ${message}`),
  };
  const metrics = ingestMetrics(createMetrics());
  return { clock, lines, metrics, watch: createTroubleWatch({ metrics, log, now: () => clock.ms }) };
}

describe("click store trouble", () => {
  test("an error that only a person can mend makes us not ready at once, and says what to do", () => {
    const { watch, lines } = open();
    watch.seen(noTable);
    expect(() => watch.check()).toThrow(/sluice migrate.*code 60/);
    expect(lines).toEqual([expect.stringMatching(/^error .*the event log keeps the data/)]);
  });

  test("an error that passes by itself makes us not ready only when it has lasted for a minute", () => {
    const { watch, clock } = open();
    watch.seen(down);
    clock.ms = 59_000;
    watch.check();
    clock.ms = 60_000;
    expect(() => watch.check()).toThrow(/tried again.*for 60 s/);
  });

  test("when a slice gets through we are ready again, and the next trouble is a new one", () => {
    const { watch, clock, lines } = open();
    watch.seen(noTable);
    watch.over();
    watch.check();
    clock.ms = 100_000;
    watch.seen(down);
    watch.check();
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["error", "info", "warn"]);
  });

  test("however often it is tried, the log says it once a minute and the metric counts every time", async () => {
    const { watch, clock, lines, metrics } = open();
    for (; clock.ms < 180_000; clock.ms += 500) watch.seen(down);
    expect(lines).toHaveLength(3);
    const { values } = await metrics.trouble.get();
    expect(values).toEqual([expect.objectContaining({ value: 360, labels: { class: "retry", code: "0" } })]);
  });
});
