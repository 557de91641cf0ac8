import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { clickEvents } from "@sluice/click-event/testing/arbitrary.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import * as fc from "fast-check";
import { expect } from "vitest";
import { clickValues } from "../click-columns.ts";
import { enrichment, uuidv7 } from "../testing/clicks.ts";
import { once, type Trial } from "./trial.ts";

/** What goes in comes out. */
export const values = {
  "every valid event is taken, and comes back as it was": async (trial: Trial) => {
    const run = uuidv7();
    const events = fc
      .sample(clickEvents, 500)
      .map((event, index) => ({ ...event, event_id: uuidv7(), edge_run: run, edge_seq: index + 1 }));
    await comesBack(trial, run, events);
  },

  "odd and long texts are taken, and come back as they were": async (trial: Trial) => {
    const run = uuidv7();
    const texts = [
      "",
      "\\N",
      "\\.",
      "a\tb\nc\rd\\e\"f'g",
      "\u0000 and \\u0000",
      "\ud800 and \\ud800, \udc00",
      "😀".repeat(8_192),
      "\u0001\u001f\u007f\u0085\u2028\ufeff\uffff",
      "x".repeat(16_384),
      '{"a":[1,null]}',
      "NULL",
    ];
    const events = texts.map((text, index) =>
      sampleClick({
        event_id: uuidv7(),
        edge_run: run,
        edge_seq: index + 1,
        slug: text,
        destination: text,
        user_agent: text,
        client_hints: { platform: text, model: "" },
        click_ids: { gclid: text },
        utm: { source: text, medium: "", campaign: text, term: text, content: text },
      }),
    );
    await comesBack(trial, run, events);
  },

  "clicks of any month from 2000 to 2100 are taken in one batch": async (trial: Trial) => {
    const run = uuidv7();
    const times = Array.from({ length: 120 }, (_, index) => Date.UTC(2000, index * 10));
    times.push(Date.UTC(2100, 0), Date.UTC(2026, 11) - 1, Date.UTC(2026, 11));
    const events = times.map((ts, index) =>
      sampleClick({ event_id: uuidv7(), edge_run: run, edge_seq: index + 1, ts }),
    );
    await comesBack(trial, run, events);
    expect(await trial.subject.count(run)).toEqual(once(times.length));
  },

  "one bad value refuses a batch without being quoted, and nothing of the batch is stored": async (
    trial: Trial,
  ) => {
    const { store, options, rowOf, rowsOf, subject, troubles } = trial;
    const run = uuidv7();
    const rows = rowsOf(run, 5_000);
    for (const at of [0, 2_500, 5_000]) {
      const bad = rowOf(sampleClick({ edge_run: run, edge_seq: 5_001, event_id: "not-a-uuid" }));
      const refused = store.insertClicks(rows.toSpliced(at, 0, bad), options);
      await expect(refused).rejects.toMatchObject({
        name: "ClickStoreError",
        class: "row",
        retryable: false,
        partlyStored: false,
      });
      await expect(refused).rejects.not.toThrow("not-a-uuid");
      expect(await subject.count(run)).toEqual(once(0));
    }
    expect(troubles).toEqual([]);
    await store.insertClicks(rows, options);
    expect(await subject.count(run)).toEqual(once(5_000));
  },
};

async function comesBack({ store, options, rowOf, subject }: Trial, run: string, events: ClickEvent[]) {
  await store.insertClicks(events.map(rowOf), options);
  const stored = (_key: string, value: unknown): unknown =>
    typeof value === "string" ? subject.storedText(value.toWellFormed()) : value;
  const expected = events.map((event): unknown =>
    JSON.parse(JSON.stringify(clickValues(event, enrichment)), stored),
  );
  expect(await subject.clicks(run)).toEqual(expected);
}
