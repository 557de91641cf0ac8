import { EventLogError } from "@sluice/event-log/event-log.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { createMemoryWriter } from "../testing/memory-writer.ts";
import type { RefusalReason } from "./refused-numbers.ts";
import { createRun } from "./run.ts";

const run = "01976f5c-0000-7abc-8def-0123456789ab";
const ts = 1_750_000_000_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function range(from: number, to: number, reason: RefusalReason): unknown {
  const said = { v: 1, kind: "refused", edge: "fra1", edge_run: run, from_seq: from, to_seq: to, ts, reason };
  return { kind: "refused-range", range: said };
}

describe("numbers that could not be journaled", () => {
  it("are journaled as one range once there is room again", () => {
    const writer = createMemoryWriter(run);
    const edge = createRun("fra1", writer);
    const outcomes: unknown[] = [];
    writer.refuse = "full";
    for (let count = 0; count < 3; count += 1) {
      edge.append(edge.take(ts), Buffer.from("{}"), (refused) => outcomes.push(refused));
    }
    writer.endTurn();
    // Still full: the attempt to write the range fails, and nothing is forgotten.
    vi.advanceTimersByTime(1000);
    edge.append(edge.take(ts), Buffer.from("{}"), (refused) => outcomes.push(refused));
    writer.endTurn();
    writer.refuse = undefined;
    vi.advanceTimersByTime(1000);
    writer.endTurn();
    expect(outcomes).toEqual(["full", "full", "full", "full"]);
    expect(writer.records).toEqual([range(1, 4, "full")]);
    // Once.
    vi.advanceTimersByTime(5000);
    writer.endTurn();
    expect(writer.records).toHaveLength(1);
  });

  it("are journaled at the latest when the run is closed", async () => {
    const writer = createMemoryWriter(run);
    const edge = createRun("fra1", writer);
    edge.refuse(edge.take(ts), "error");
    await edge[Symbol.asyncDispose]();
    expect(writer.records).toEqual([range(1, 1, "error")]);
    expect(writer.closed).toBe(true);
  });

  it.each([
    ["full", "full"],
    ["too-large", "too-large"],
    ["unavailable", "error"],
    ["closed", "error"],
  ] as const)("are counted by why: %s is %s", (code, reason) => {
    const writer = createMemoryWriter(run);
    writer.refuse = new EventLogError(code, "").code;
    let refused: RefusalReason | undefined;
    const edge = createRun("fra1", writer);
    edge.append(edge.take(ts), Buffer.from("{}"), (why) => (refused = why));
    writer.endTurn();
    expect(refused).toBe(reason);
  });
});
