import type { Batch } from "kafkajs";
import { expect, it } from "vitest";
import { text } from "../contract/trial.ts";
import { Assignment } from "./assignment.ts";

/** What a fetch from this offset brings: records at these offsets, the end of the log behind them. */
function fetched(from: number, offsets: readonly number[], partition = 0): Batch & { fetchedOffset: string } {
  const last = offsets.at(-1) ?? from - 1;
  return {
    topic: "clicks",
    partition,
    fetchedOffset: `${from}`,
    highWatermark: `${last + 1}`,
    messages: offsets.map((offset) => ({
      key: Buffer.from("run"),
      value: Buffer.from(`${offset}`),
      timestamp: "1790000000000",
      attributes: 0,
      offset: `${offset}`,
      headers: {},
    })),
    isEmpty: () => offsets.length === 0,
    firstOffset: () => `${offsets[0]}`,
    lastOffset: () => `${last}`,
    offsetLag: () => "0",
    offsetLagLow: () => "0",
  };
}

function taken(assignment: Assignment) {
  const { records, offsets } = assignment.take(1000, 1_000_000);
  return { records: records.map(text), offsets: Object.fromEntries(offsets) };
}

it("a fetch that follows what is known is in place, and commits to the offset behind its last record", () => {
  const assignment = new Assignment([0, 1], 1_000_000, undefined);
  assignment.locate(
    new Map([
      [0, 10],
      [1, 5],
    ]),
  );
  expect(assignment.leapsOver(fetched(10, [10, 11]))).toBeUndefined();
  assignment.accept(fetched(10, [10, 11]));
  assignment.accept(fetched(5, [5], 1));
  expect(taken(assignment)).toEqual({ records: ["10", "11", "5"], offsets: { 0: 12, 1: 6 } });
});

it("a fetch of an earlier assignment, behind the committed position, is not taken for the next", () => {
  const assignment = new Assignment([0], 1_000_000, undefined);
  assignment.locate(new Map([[0, 50]]));
  expect(assignment.leapsOver(fetched(150, [150]))).toBe(50);
  assignment.seek(0, 50);
  expect(assignment.leapsOver(fetched(50, [50, 51]))).toBeUndefined();
});

it("a driver that was sent back and still begins later has passed over what it hides", () => {
  const assignment = new Assignment([0], 1_000_000, undefined);
  assignment.locate(new Map([[0, 50]]));
  assignment.seek(0, 50);
  expect(assignment.leapsOver(fetched(52, [52]))).toBeUndefined();
  assignment.accept(fetched(52, [52]));
  // Only that once.
  expect(assignment.leapsOver(fetched(90, [90]))).toBe(53);
});

it("a log that was cut back below the position is read again from where the driver begins", () => {
  const assignment = new Assignment([0], 1_000_000, undefined);
  assignment.locate(new Map([[0, 50]]));
  expect(assignment.leapsOver(fetched(0, [0, 1]))).toBeUndefined();
  assignment.accept(fetched(0, [0, 1]));
  expect(taken(assignment)).toEqual({ records: ["0", "1"], offsets: { 0: 2 } });
  expect(assignment.leapsOver(fetched(2, [2]))).toBeUndefined();
});

it("holes between offsets and behind the last record are passed over", () => {
  const assignment = new Assignment([0], 1_000_000, undefined);
  assignment.locate(new Map([[0, 0]]));
  const batch = { ...fetched(0, [0, 3, 7]), lastOffset: () => "9" };
  assignment.accept(batch);
  expect(taken(assignment)).toEqual({ records: ["0", "3", "7"], offsets: { 0: 10 } });
  expect(assignment.leapsOver(fetched(10, [10]))).toBeUndefined();
});

it("a part of a fetch commits to the record behind the part", () => {
  const assignment = new Assignment([0], 1_000_000, undefined);
  assignment.accept(fetched(0, [0, 1, 2, 3]));
  const { offsets } = assignment.take(2, 1_000_000);
  expect(Object.fromEntries(offsets)).toEqual({ 0: 2 });
  expect(assignment.ready.records).toBe(2);
});

it("reading that ends takes nothing from behind the end", () => {
  const assignment = new Assignment([0, 1], 1_000_000, new Map([[0, 2]]));
  assignment.locate(new Map([[0, 0]]));
  expect(assignment.complete()).toBe(false);
  assignment.accept(fetched(0, [0, 1, 2, 3]));
  expect(assignment.complete()).toBe(true);
  expect(taken(assignment)).toEqual({ records: ["0", "1"], offsets: { 0: 2 } });
});

it("a void assignment holds nothing, and lets go whoever waits for room", async () => {
  const assignment = new Assignment([0], 1, undefined);
  assignment.accept(fetched(0, [0, 1]));
  const room = assignment.room();
  assignment.void();
  await room;
  expect(assignment.signal.aborted).toBe(true);
  expect(assignment.ready).toEqual({ records: 0, valueBytes: 0, heldBytes: 0 });
});
