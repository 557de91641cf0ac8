import { expect } from "vitest";
import { uuidv7 } from "../testing/clicks.ts";
import { never, once, type Trial } from "./trial.ts";

/** Batches, whose server is there. */
export const inserts = {
  "no rows are nothing": async ({ store, options, troubles }: Trial) => {
    await store.insertClicks([], options);
    await store.insertDeadLetters([], options);
    await store.insertRefusedRanges([], options);
    expect(troubles).toEqual([]);
  },

  "a batch that is sent again is seen once": async ({ store, options, rowsOf, subject }: Trial) => {
    const run = uuidv7();
    const rows = rowsOf(run, 1_000);
    await store.insertClicks(rows, options);
    await store.insertClicks([...rows.toReversed(), ...rowsOf(run, 1, { fromSeq: 1_001 })], options);
    expect(await subject.count(run)).toMatchObject({ events: 1_001, visible: 1_001 });
  },

  "the same rows from several at once are seen once": async ({ open, options, rowsOf, subject }: Trial) => {
    const run = uuidv7();
    const rows = rowsOf(run, 500);
    await Promise.all(
      [rows, rows.toReversed(), rows.slice(100), rows].map((some) => open().insertClicks(some, options)),
    );
    expect(await subject.count(run)).toMatchObject({ events: 500, visible: 500 });
  },

  "a new month is made for whoever comes first, by several at once": async (trial: Trial) => {
    const run = uuidv7();
    const inserted = [0, 1, 2, 3].map(async (index) => {
      const rows = trial.rowsOf(run, 50, {
        fromSeq: 1 + index * 50,
        ts: Date.UTC(2051, 4, 31, 23, 59, 59, 960),
      });
      await trial.open().insertClicks(rows, trial.options);
    });
    await Promise.all(inserted);
    expect(await trial.subject.count(run)).toEqual(once(200));
    expect(trial.troubles).toEqual([]);
  },

  "a table that is gone is waited for, and nothing is lost when it is back": async (trial: Trial) => {
    const { store, troubles, rowsOf, subject } = trial;
    const run = uuidv7();
    await subject.renameTable("click_events", "click_events_away");
    const thirdTrouble = Promise.withResolvers<void>();
    const inserted = store.insertClicks(rowsOf(run, 100), {
      signal: never,
      onTrouble: (trouble) => {
        troubles.push(trouble);
        if (trouble.attempt === 3) thirdTrouble.resolve();
      },
    });
    await thirdTrouble.promise;
    expect(troubles.at(-1)).toMatchObject({ class: "operator", attempt: 3 });
    await expect(store.ping()).rejects.toMatchObject({ class: "operator" });
    await expect(store.ping()).rejects.toThrow("no click_events: the migrations have to be run");
    await subject.renameTable("click_events_away", "click_events");
    await inserted;
    await store.ping();
    expect(await subject.count(run)).toEqual(once(100));
  },

  "who is told to stop waiting stops, for the reason told": async ({ store, rowsOf, subject }: Trial) => {
    await subject.renameTable("click_events", "click_events_away");
    try {
      const controller = new AbortController();
      const reason = new Error("the batch is lost");
      const inserted = store.insertClicks(rowsOf(uuidv7(), 1), {
        signal: controller.signal,
        onTrouble: ({ attempt }) => attempt === 2 && controller.abort(reason),
      });
      await expect(inserted).rejects.toBe(reason);
    } finally {
      await subject.renameTable("click_events_away", "click_events");
    }
  },

  "a column that a newer version has added is no matter": async ({
    open,
    options,
    rowsOf,
    subject,
  }: Trial) => {
    const run = uuidv7();
    const store = open();
    await store.insertClicks(rowsOf(run, 10), options);
    await subject.addColumn("of_a_newer_version");
    await store.insertClicks(rowsOf(run, 10, { fromSeq: 11 }), options);
    await open().insertClicks(rowsOf(run, 10, { fromSeq: 21 }), options);
    expect(await subject.count(run)).toEqual(once(30));
  },
};
