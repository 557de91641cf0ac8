import { encodeClick } from "@sluice/click-event/encode.ts";
import { expect } from "vitest";
import type { DeadLetter } from "../click-store.ts";
import { openDeadLetters } from "../dead-letters.ts";
import { eraseDue } from "../erase.ts";
import { type Erasure, type Erasures, openErasures } from "../erasures.ts";
import { openRunChecks } from "../run-checks.ts";
import { eventsOf, uuidv7 } from "../testing/clicks.ts";
import { never, type Trial } from "./trial.ts";

const at = Date.UTC(2026, 10, 30, 12);
const [alice, bob] = ["a".repeat(32), "b".repeat(32)];
let workspaces = 900_000;

/** What is taken out of the store, and stays out. */
export const erasures = {
  "a link's clicks are gone up to a time, and no others, and their numbers are no gap": async (
    trial: Trial,
  ) => {
    await using scene = await openScene(trial);
    await scene.erase({ workspaceId: scene.workspaceId, linkId: 7, upTo: at + 6 });
    expect(await scene.stored()).toEqual([2, 4, 6, 8, 9, 10, 11, 12]);
    expect(await scene.gaps()).toEqual([]);
  },

  "a visitor's clicks are gone from all links of the workspace, and from no other workspace": async (
    trial: Trial,
  ) => {
    await using scene = await openScene(trial);
    await using other = await openScene(trial);
    await scene.erase({ workspaceId: scene.workspaceId, visitor: alice, upTo: at + 100 });
    expect(await scene.stored()).toEqual([4, 5, 6, 10, 11, 12]);
    expect(await scene.gaps()).toEqual([]);
    expect(await other.stored()).toHaveLength(12);
  },

  "a workspace's clicks are gone, by two at once as well, and again does no harm": async (trial: Trial) => {
    await using scene = await openScene(trial);
    const { erasures: store, workspaceId } = scene;
    await store.add({ workspaceId, upTo: at + 100 }, never);
    await Promise.all([scene.pass(), scene.pass()]);
    await scene.pass();
    expect(await scene.stored()).toEqual([]);
    expect(await scene.gaps()).toEqual([]);
    expect(await scene.mine()).toMatchObject([{ done: true, upTo: at + 100 }]);
  },

  "an erasure reaches as far as it ever did, and one that reaches further is to be carried out": async (
    trial: Trial,
  ) => {
    await using scene = await openScene(trial);
    const { erasures: store, workspaceId, mine } = scene;
    await scene.erase({ workspaceId, linkId: 7, upTo: at + 3 });
    await store.add({ workspaceId, linkId: 7, upTo: at + 1 }, never);
    expect(await mine()).toMatchObject([{ linkId: 7, upTo: at + 3, done: true }]);
    await store.add({ workspaceId, linkId: 7, upTo: at + 5 }, never);
    expect(await mine()).toMatchObject([{ upTo: at + 5, done: false }]);
    await store.finish([{ workspaceId, linkId: 7, upTo: at + 4 }], never);
    expect(await mine()).toMatchObject([{ upTo: at + 5, done: false }]);
  },

  "an erasure of which nobody may know yet is not carried out, and one that was left half done is": async (
    trial: Trial,
  ) => {
    await using scene = await openScene(trial);
    const { erasures: store, workspaceId } = scene;
    await store.add({ workspaceId, upTo: at + 100 }, never);
    await scene.pass(60_000);
    expect(await scene.stored()).toHaveLength(12);
    // As far as one comes that is killed before it can say that it is done.
    await store.erase([{ workspaceId, upTo: at + 4 }], never);
    expect(await scene.mine()).toMatchObject([{ done: false }]);
    await scene.pass();
    expect(await scene.mine()).toMatchObject([{ done: true }]);
    expect(await scene.stored()).toEqual([]);
    expect(await scene.gaps()).toEqual([]);
  },

  "what comes in past everybody is found again": async (trial: Trial) => {
    await using scene = await openScene(trial);
    const { workspaceId } = scene;
    await scene.erase({ workspaceId, upTo: at + 100 });
    await scene.store();
    await scene.pass();
    expect(await scene.stored()).toEqual([]);
  },

  "dead letters go with what their bytes are of, as far as they say it, and account for their numbers":
    async (trial: Trial) => {
      await using scene = await openScene(trial);
      await using letters = await openDeadLetters(trial.subject.url);
      const { run, workspaceId } = scene;
      const of = (link_id: number, edge_seq: number) => {
        const [event] = eventsOf(run, 1, { workspace_id: workspaceId, link_id, fromSeq: edge_seq, ts: at });
        if (event === undefined) throw new Error("one was asked for");
        return encodeClick(event);
      };
      const values = [of(7, 21), of(8, 22), cut(of(7, 23)), cut(of(8, 24)), Buffer.from("7"), Buffer.of(255)];
      await trial.store.insertDeadLetters(
        values.map((value, index) => letter(run, 21 + index, value)),
        trial.options,
      );
      await scene.erase({ workspaceId, linkId: 7, upTo: at + 100 });
      const left: number[] = [];
      for (const { key, number } of (await letters.page({ state: "any" }, { limit: 100_000 })).letters)
        if (key === run) left.push(number);
      expect(left.toSorted((a, b) => a - b)).toEqual([22, 24, 25, 26]);
      expect(await scene.gaps(26)).toEqual([{ fromSeq: 13, toSeq: 20 }]);
    },

  "days are kept by workspace, and a longer retention brings nothing back": async (trial: Trial) => {
    await using scene = await openScene(trial);
    await using other = await openScene(trial);
    const { erasures: store, workspaceId } = scene;
    const day = 86_400_000;
    const now = () => at + 30 * day;
    await store.setRetention(workspaceId, 30, never);
    await scene.pass(0, now);
    expect(await scene.stored()).toHaveLength(12);
    await store.setRetention(workspaceId, 29, never);
    await scene.pass(0, now);
    expect(await scene.stored()).toEqual([]);
    expect(await other.stored()).toHaveLength(12);
    await store.setRetention(workspaceId, 0, never);
    expect((await store.retention(never)).has(workspaceId)).toBe(false);
    await scene.pass(0, now);
    expect(await scene.mine()).toMatchObject([{ upTo: Date.UTC(2026, 11, 1) - 1, done: true }]);
  },
};

/** A workspace with 12 clicks of a run: links 7 and 8 in turn, three of Alice, three of Bob and so on. */
async function openScene(trial: Trial) {
  await using opened = new AsyncDisposableStack();
  const store: Erasures = opened.use(await openErasures(trial.subject.url));
  const letters = opened.use(await openDeadLetters(trial.subject.url));
  const checks = opened.use(await openRunChecks(trial.subject.url));
  workspaces += 1;
  const workspaceId = workspaces;
  const run = uuidv7();
  const events = eventsOf(run, 12, { workspace_id: workspaceId, ts: at }).map((event, index) => ({
    ...event,
    link_id: 7 + (index % 2),
    visitor: index % 6 < 3 ? alice : bob,
  }));
  const insert = () => trial.store.insertClicks(events.map(trial.rowOf), trial.options);
  const pass = (knownAfterMs = 0, now = () => at) =>
    eraseDue(store, letters, { signal: never, knownAfterMs, now });
  await insert();
  const stack = opened.move();
  return {
    erasures: store,
    run,
    workspaceId,
    store: insert,
    pass,
    async erase(erasure: Erasure) {
      await store.add(erasure, never);
      await pass();
    },
    stored: async () => {
      const range = { fromSeq: 1, toSeq: 1_000, fromTs: at, toTs: at + 1_000 };
      return [...(await trial.store.storedNumbers(run, range, never))].toSorted((a, b) => a - b);
    },
    gaps: async (toSeq = 12) => {
      const { gaps } = await checks.gaps(run, { fromSeq: 1, toSeq, sinceTs: 0, limit: 100 }, never);
      return gaps.map((gap) => ({ fromSeq: gap.fromSeq, toSeq: gap.toSeq }));
    },
    mine: async () => (await store.list(never)).filter((erasure) => erasure.workspaceId === workspaceId),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function cut(value: Uint8Array): Uint8Array {
  return value.subarray(0, value.length - 40);
}

function letter(run: string, number: number, value: Uint8Array): DeadLetter {
  return {
    log: "journal",
    topic: "clicks",
    recordId: `${run}:${number}`,
    appendedAt: at,
    key: run,
    value,
    reason: "wrong-field",
    error: "",
    version: "1",
    number,
  };
}
