import type { Trouble } from "@sluice/click-store/click-store.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describe, expect, test } from "vitest";
import { ingestMetrics } from "./metrics.ts";
import { createPace } from "./pace.ts";

const usual = { minRecords: 1_000, maxRecords: 50_000, maxBytes: 1 << 24, maxWaitMs: 5_000 };
const tooManyParts: Trouble = { class: "retry", code: 252, message: "", attempt: 1, slow: true };
const down: Trouble = { class: "retry", code: 0, message: "", attempt: 1 };
const open = () => createPace(usual, ingestMetrics(createMetrics()));

describe("the pace of flushes", () => {
  test("each batch that meets too many parts makes the next twice as long in coming, up to a minute", () => {
    const pace = open();
    const waits = Array.from({ length: 6 }, () => {
      pace.seen(tooManyParts);
      pace.seen(tooManyParts);
      return pace.next().maxWaitMs;
    });
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
    expect(pace.next()).toMatchObject({ minRecords: 12_000, maxRecords: 50_000 });
  });

  test("it comes back to what is configured, slowly", () => {
    const pace = open();
    for (let twice = 0; twice < 2; twice += 1) {
      pace.seen(tooManyParts);
      pace.next();
    }
    const waits = Array.from({ length: 60 }, () => pace.next().maxWaitMs);
    expect([waits[18], waits[19], waits[38], waits[39], waits[59]]).toEqual([
      20_000, 10_000, 10_000, 5_000, 5_000,
    ]);
  });

  test("no other trouble changes it", () => {
    const pace = open();
    pace.seen(down);
    expect(pace.next()).toEqual(usual);
  });
});
