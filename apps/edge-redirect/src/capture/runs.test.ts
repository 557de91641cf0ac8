import { silentLog } from "@sluice/service/log.ts";
import { describe, expect, it } from "vitest";

import { createMemoryWriter, type MemoryWriter } from "../testing/memory-writer.ts";
import { createRun } from "./run.ts";
import { openRuns, type Runs } from "./runs.ts";

interface Trial extends AsyncDisposable {
  readonly clock: { now: number };
  readonly writers: MemoryWriter[];
  readonly runs: Runs;
  /** Fails the next attempts to open a run. */
  failing: boolean;
}

async function trial(): Promise<Trial> {
  const clock = { now: 1_750_000_000_000 };
  const writers: MemoryWriter[] = [];
  const state = { failing: false };
  const open = async () => {
    if (state.failing) throw new Error("no disk");
    const writer = createMemoryWriter(`run ${writers.length + 1}`);
    writers.push(writer);
    return createRun("edge", writer);
  };
  const runs = await openRuns(open, () => clock.now, silentLog);
  return Object.assign(state, {
    clock,
    writers,
    runs,
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  });
}

/** A click now: its number, its time and its run. */
function click({ runs }: Trial): { seq: number; ts: number; run: unknown } {
  const ts = runs.time();
  const run = runs.current();
  return { seq: run.take(ts), ts, run };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("the clock of a run", () => {
  it("never goes back: a small step is waited out in the same run", async () => {
    await using edge = await trial();
    const first = click(edge);
    edge.clock.now -= 1000;
    const second = click(edge);
    edge.clock.now += 1500;
    const third = click(edge);
    expect([second.ts, third.ts]).toEqual([first.ts, first.ts + 500]);
    expect([first.seq, second.seq, third.seq]).toEqual([1, 2, 3]);
    expect(edge.writers).toHaveLength(1);
  });

  it("begins a new run, with new numbers, when it is set back by more than a second; the old one is closed", async () => {
    await using edge = await trial();
    const before = click(edge);
    edge.clock.now -= 1001;
    const during = click(edge);
    await settled();
    const after = click(edge);
    expect(during).toMatchObject({ seq: 2, ts: before.ts });
    expect(after).toMatchObject({ seq: 1, ts: before.ts - 1001 });
    expect(edge.writers.map(({ closed }) => closed)).toEqual([true, false]);
  });

  it("stands still as long as no new run can be opened, and no click is refused for it", async () => {
    await using edge = await trial();
    const before = click(edge);
    edge.failing = true;
    edge.clock.now -= 5000;
    click(edge);
    await settled();
    expect(click(edge)).toMatchObject({ seq: 3, ts: before.ts });
    expect(edge.writers).toHaveLength(1);
  });
});
