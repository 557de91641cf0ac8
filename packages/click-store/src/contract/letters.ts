import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { DeadLetter } from "../click-store.ts";
import {
  type LetterFilter,
  type LetterKey,
  openDeadLetters,
  type StoredDeadLetter,
} from "../dead-letters.ts";
import { uuidv7 } from "../testing/clicks.ts";
import type { Trial } from "./trial.ts";

/** What could not be stored as a click. */
export const letters = {
  "a dead letter's bytes are kept as they were, and one of each letter": async (trial: Trial) => {
    const { store, options } = trial;
    const topic = uuidv7();
    const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const values = [
      everyByte,
      everyByte.toReversed(),
      new Uint8Array(),
      new TextEncoder().encode('{"v":1,"ts":"\n\t\\N'),
    ];
    const given = values.map((value, index) =>
      letter({ topic, recordId: `run:${index}`, appendedAt: index, value }),
    );
    await store.insertDeadLetters(given, options);
    await store.insertDeadLetters(given.slice(0, 2), options);
    expect(await stored(trial, topic)).toEqual(given);
  },

  "of a letter that is stored twice the later one stays, also within a batch": async (trial: Trial) => {
    const topic = uuidv7();
    const [first, second, third] = ["first", "second", "third"].map((error) => letter({ topic, error }));
    if (first === undefined || second === undefined || third === undefined) throw new Error("unreachable");
    await trial.store.insertDeadLetters([first, second], trial.options);
    expect(await stored(trial, topic)).toHaveLength(1);
    await trial.store.insertDeadLetters([third], trial.options);
    expect(await stored(trial, topic)).toEqual([third]);
  },

  "a letter is never refused: odd texts, large values, clocks that say nothing": async (trial: Trial) => {
    const { store, options, subject } = trial;
    const topic = uuidv7();
    const clocks = [-1, Number.NaN, Number.MAX_SAFE_INTEGER, 1.5];
    const odd = "\u0000 \ud800 \t \\ 😀 ' \"";
    const given = clocks.map((appendedAt, index) =>
      letter({
        topic,
        recordId: `${index}`,
        appendedAt,
        key: odd,
        reason: odd,
        error: odd,
        value: new Uint8Array(163_840),
      }),
    );
    await store.insertDeadLetters(given, options);
    const text = subject.storedText(odd.toWellFormed());
    for (const found of await stored(trial, topic)) {
      expect(found).toMatchObject({ key: text, reason: text, error: text });
      expect(found.value).toHaveLength(163_840);
    }
    expect(await stored(trial, topic)).toHaveLength(clocks.length);
  },

  "letters are found by state, id, reason, topic and time, and paged through in both orders": async (
    trial: Trial,
  ) => {
    const topic = uuidv7();
    const given = Array.from({ length: 25 }, (_, index) =>
      letter({ topic, recordId: `${index + 10}`, reason: index % 2 === 0 ? "even" : "odd" }),
    );
    await trial.store.insertDeadLetters(given, trial.options);
    await using table = await openDeadLetters(trial.subject.url);
    const any = { state: "any", topic } as const;
    const latest: StoredDeadLetter[] = [];
    for (;;) {
      const after = latest.at(-1);
      const page = await table.latest(any, { limit: 10, ...(after && { after }) });
      latest.push(...page);
      if (page.length < 10) break;
    }
    const ids = given.map(({ recordId }) => recordId);
    expect(latest.map(({ recordId }) => recordId)).toEqual(ids);

    const inOrder: string[] = [];
    for (let next: LetterKey | undefined, first = true; first || next !== undefined; first = false) {
      const page = await table.page(any, { limit: 10, ...(next && { after: next }) });
      inOrder.push(...page.letters.map(({ recordId }) => recordId));
      next = page.next;
    }
    expect(inOrder).toEqual(ids);

    const counted = async (filter: Partial<LetterFilter>) =>
      (await table.count({ ...any, ...filter })).letters;
    const { letters: all, asOf } = await table.count(any);
    expect(all).toBe(25);
    expect(await counted({ reason: "odd" })).toBe(12);
    expect(await counted({ topic: uuidv7() })).toBe(0);
    expect(await counted({ ids: [`journal/${topic}/10`, `journal/${topic}/99`] })).toBe(1);
    expect(await counted({ to: asOf + 1 })).toBe(25);
    expect(await counted({ from: asOf + 1_000 })).toBe(0);
  },

  "a mark stays with its letter, the last one counts, and a record appended anew is another letter": async (
    trial: Trial,
  ) => {
    const { store, options, subject } = trial;
    const topic = uuidv7();
    const given = ["1", "2", "3"].map((recordId) => letter({ topic, recordId, appendedAt: 1_000 }));
    await store.insertDeadLetters(given, options);
    await using table = await openDeadLetters(subject.url);
    const found = async (state: LetterFilter["state"]) =>
      (await table.page({ state, topic }, { limit: 10 })).letters.map(({ recordId }) => recordId);
    const [first, second] = await table.latest({ state: "open", topic }, { limit: 2 });
    if (first === undefined || second === undefined) throw new Error("no letters");
    await table.mark([], "discarded");
    await table.mark([first, second], "discarded");
    await delay(5);
    await table.mark([first], "replayed");
    expect([await found("open"), await found("discarded"), await found("replayed")]).toEqual([
      ["3"],
      ["2"],
      ["1"],
    ]);
    await store.insertDeadLetters(given, options);
    expect((await table.count({ state: "open", topic })).letters).toBe(1);
    await store.insertDeadLetters([letter({ topic, recordId: "2", appendedAt: 2_000 })], options);
    expect(await found("open")).toEqual(["2", "3"]);
  },

  "more letters than fit into one statement are all stored": async (trial: Trial) => {
    const topic = uuidv7();
    const given = Array.from({ length: 1_001 }, (_, index) => letter({ topic, recordId: `${index}` }));
    await trial.store.insertDeadLetters(given, trial.options);
    expect(await stored(trial, topic)).toHaveLength(1_001);
  },
};

function letter(changes: Partial<DeadLetter>): DeadLetter {
  return {
    log: "journal",
    topic: "clicks",
    recordId: "0",
    appendedAt: 0,
    key: 'a key "with" \\ signs, a tab \t and 😀',
    value: new Uint8Array(),
    reason: "not-json",
    error: "Unexpected token",
    version: "1.2.3",
    number: 7,
    ...changes,
  };
}

/** Those of a topic as they were given, by record. */
async function stored({ subject }: Trial, topic: string): Promise<DeadLetter[]> {
  await using table = await openDeadLetters(subject.url);
  const found = await table.latest({ state: "any", topic }, { limit: 10_000 });
  return found.map(asGiven).toSorted((a, b) => a.recordId.localeCompare(b.recordId));
}

function asGiven({ storedAt, mark, ...given }: StoredDeadLetter): DeadLetter {
  expect(storedAt).toBeGreaterThan(0);
  expect(mark).toBeUndefined();
  return { ...given, value: new Uint8Array(given.value) };
}
