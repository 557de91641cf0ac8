import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { clickEvents } from "@sluice/click-event/testing/arbitrary.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import * as fc from "fast-check";
import { expect } from "vitest";
import {
  type ClickCursor,
  type ClickSelection,
  openStoredClicks,
  type StoredClick,
} from "../stored-clicks.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { never, type Trial } from "./trial.ts";

const enrich = createEnricher({ cacheSize: 100 });
const [fromTs, toTs] = [Date.UTC(2026, 0), Date.UTC(2027, 0)];
const all = { fromSeq: 1, toSeq: Number.MAX_SAFE_INTEGER };

let workspaces = 800_000;

/** Clicks of a workspace of its own. */
function clicksOf(count: number, changes: (index: number) => Partial<ClickEvent> = () => ({})) {
  workspaces += 1;
  const [workspace_id, edge_run] = [workspaces, uuidv7()];
  const clicks = Array.from({ length: count }, (_, index) =>
    sampleClick({
      event_id: uuidv7(),
      edge_run,
      edge_seq: index + 1,
      workspace_id,
      ts: fromTs + index,
      ...changes(index),
    }),
  );
  return { workspaceId: workspaces, run: edge_run, clicks };
}

/** Clicks as they went in. */
export const storedClicks = {
  "every valid event and what was derived from it comes back as it was": async (trial: Trial) => {
    const run = uuidv7();
    const events = fc.sample(clickEvents, 500).map((event, index) => ({
      ...event,
      event_id: uuidv7(),
      edge_run: run,
      edge_seq: index + 1,
      ts: fromTs + (event.ts % (toTs - fromTs)),
    }));
    await insert(trial, events);
    const { clicks } = await readAll(trial, { fromTs, toTs, runs: [{ run, ...all }] }, 60);
    const stored = (_key: string, value: unknown): unknown =>
      typeof value === "string" ? trial.subject.storedText(value) : value;
    const expected: unknown = JSON.parse(
      JSON.stringify(events.map((event) => ({ event, enrichment: enrich(event) }))),
      stored,
    );
    expect(clicks.toSorted((a, b) => a.event.edge_seq - b.event.edge_seq)).toEqual(expected);
  },

  "pages give each click once, those of a link in order of time, also those of one moment and those that are there twice":
    async (trial: Trial) => {
      const { workspaceId, clicks } = clicksOf(100, (index) => ({ ts: fromTs + Math.floor(index / 25) * 7 }));
      await insert(trial, clicks);
      await insert(trial, clicks.slice(10, 60));
      const { clicks: found, largest } = await readAll(trial, { fromTs, toTs, workspaceId }, 10);
      expect(found.map(({ event }) => event.ts)).toEqual(clicks.map(({ ts }) => ts));
      expect(idsOf(found)).toEqual(clicks.map(({ event_id }) => event_id).toSorted());
      expect(largest).toBe(10);
    },

  "clicks are found by time, workspace, link and ranges of numbers": async (trial: Trial) => {
    const { workspaceId, run, clicks } = clicksOf(20, (index) => ({ link_id: 1 + (index % 2) }));
    const other = clicksOf(20);
    await insert(trial, [...clicks, ...other.clicks]);
    const numbers = async (selection: Partial<ClickSelection>) => {
      const { clicks: found } = await readAll(trial, { fromTs, toTs, ...selection }, 100);
      return found.map(({ event }) => event.edge_seq).toSorted((a, b) => a - b);
    };
    expect(await numbers({ workspaceId, linkId: 2 })).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect(await numbers({ workspaceId, fromTs: fromTs + 5, toTs: fromTs + 7 })).toEqual([6, 7]);
    const runs = [
      { run, fromSeq: 3, toSeq: 4 },
      { run, fromSeq: 19, toSeq: Number.MAX_SAFE_INTEGER },
      { run: other.run, fromSeq: 8, toSeq: 8 },
    ];
    expect(await numbers({ runs })).toEqual([3, 4, 8, 19, 20]);
    expect(await numbers({ runs, workspaceId, linkId: 1 })).toEqual([3, 19]);
    expect(await numbers({ workspaceId: 1, runs: [{ run, ...all }] })).toEqual([]);
  },

  "what was deleted is not given": async (trial: Trial) => {
    const { workspaceId, run, clicks } = clicksOf(10, (index) => ({
      visitor: index < 4 ? "a".repeat(32) : "b".repeat(32),
    }));
    await insert(trial, clicks);
    await trial.subject.deleteClicks(run, "a".repeat(32));
    expect((await readAll(trial, { fromTs, toTs, workspaceId }, 100)).clicks).toHaveLength(6);
  },

  "a page takes 1 to 10,000 clicks, and stops when told to": async (trial: Trial) => {
    await using stored = await openStoredClicks(trial.subject.url);
    for (const limit of [0, 10_001, 1.5])
      await expect(stored.read({ fromTs, toTs, limit }, never)).rejects.toThrow(RangeError);
    const reason = new Error("stop");
    await expect(stored.read({ fromTs, toTs, limit: 1 }, AbortSignal.abort(reason))).rejects.toBe(reason);
  },

  "numbers that an edge refused are counted": async (trial: Trial) => {
    const run = uuidv7();
    const range = { v: 1, kind: "refused", edge: "e", edge_run: run, ts: fromTs, reason: "full" } as const;
    const ranges = [
      { ...range, from_seq: 5, to_seq: 9 },
      { ...range, from_seq: 11, to_seq: 11 },
    ];
    await trial.store.insertRefusedRanges(ranges, trial.options);
    await trial.store.insertRefusedRanges(ranges, trial.options);
    await using stored = await openStoredClicks(trial.subject.url);
    expect(await stored.refusedNumbers(run, never)).toBe(6);
    expect(await stored.refusedNumbers(uuidv7(), never)).toBe(0);
  },
};

async function insert({ store, options }: Trial, events: readonly ClickEvent[]): Promise<void> {
  await store.insertClicks(
    events.map((event) => store.encodeClick(event, enrich(event))),
    options,
  );
}

async function readAll({ subject }: Trial, selection: ClickSelection, limit: number) {
  await using stored = await openStoredClicks(subject.url);
  const clicks: StoredClick[] = [];
  let largest = 0;
  let after: ClickCursor | undefined;
  do {
    const page = await stored.read({ ...selection, limit, ...(after && { after }) }, never);
    clicks.push(...page.clicks);
    largest = Math.max(largest, page.clicks.length);
    after = page.next;
  } while (after !== undefined);
  return { clicks, largest };
}

function idsOf(clicks: readonly StoredClick[]): string[] {
  return clicks.map(({ event }) => event.event_id).toSorted();
}
