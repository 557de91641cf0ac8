import { describe, expect, test } from "vitest";
import type { WorkspaceHour } from "../queries/click-rollup-marks.ts";
import { createMarker, type Moment } from "./marker.ts";

const never = new AbortController().signal;
const hourMs = 3_600_000;
const minuteMs = 60_000;

function openScene() {
  const written: WorkspaceHour[][] = [];
  const clocks = { monotonicMs: 0, wallMs: 0 };
  const events: string[] = [];
  const broken = { next: false };
  const marker = createMarker(
    async (hours) => {
      if (broken.next) throw new Error("no answer");
      written.push([...hours]);
      events.push("mark");
    },
    (): Moment => ({ ...clocks }),
  );
  const mark = (...rows: [workspaceId: number, ts: number][]) =>
    marker.mark(
      rows.map(([workspace_id, ts]) => ({ workspace_id, ts })),
      never,
    );
  return { written, clocks, events, broken, marker, mark };
}

describe("a marker", () => {
  test("marks each hour of each workspace once, however many clicks it has", async () => {
    const { written, mark } = openScene();
    await mark([1, 5], [1, hourMs - 1], [2, 5], [1, 6], [1, hourMs], [0xffff_ffff, 0]);
    await mark([1, 7], [2, hourMs]);
    expect(written).toEqual([
      [
        { workspaceId: 1, hour: 0 },
        { workspaceId: 2, hour: 0 },
        { workspaceId: 1, hour: 3_600 },
        { workspaceId: 0xffff_ffff, hour: 0 },
      ],
      [{ workspaceId: 2, hour: 3_600 }],
    ]);
  });

  test.for(["monotonicMs", "wallMs"] as const)(
    "does not rely on a mark for longer than three minutes by %s",
    async (clock) => {
      const { written, clocks, mark } = openScene();
      await mark([1, 0]);
      clocks[clock] += 2 * minuteMs;
      await mark([2, 0]);
      clocks[clock] += minuteMs;
      await mark([1, 0]);
      expect(written).toHaveLength(2);
      clocks[clock] += 1;
      await mark([1, 0]);
      await mark([2, 0]);
      expect(written).toHaveLength(4);
    },
  );

  test("relies on no mark that was not acknowledged, nor after its clock was set back", async () => {
    const { written, clocks, broken, mark } = openScene();
    broken.next = true;
    await expect(mark([1, 0])).rejects.toThrow("no answer");
    broken.next = false;
    await mark([1, 0]);
    clocks.wallMs -= 10 * minuteMs;
    await mark([1, 0]);
    expect(written).toHaveLength(2);
  });

  test("marks before a change, and again after one that was held up", async () => {
    const { clocks, events, marker } = openScene();
    const during = (ms: number) =>
      marker.during([{ workspace_id: 1, ts: 0 }], never, async () => {
        events.push("change");
        clocks.monotonicMs += ms;
      });
    await during(10);
    await during(10);
    await during(6 * minuteMs);
    expect(events).toEqual(["mark", "change", "change", "change", "mark"]);
  });
});
