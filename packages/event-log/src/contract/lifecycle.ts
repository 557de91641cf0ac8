import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { EventLogError } from "../event-log.ts";
import { eager, mustNext, numbered, readAll, readToEnd, refusal, text, type Trial } from "./trial.ts";

/** Opening, ending and closing. */
export const lifecycle = {
  "ping answers while the log is there": async (trial: Trial) => {
    await expect(trial.log().ping()).resolves.toBeUndefined();
  },

  'until "now" ends at what was there when the reader was opened': async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 10));
    await using reader = await trial.reader({ until: "now" });
    await trial.log().append(trial.topic, numbered("run", 11, 20));
    expect((await readAll(reader, Infinity)).map(text)).toEqual(numbered("run", 1, 10).map(text));
    expect(await reader.next(eager)).toBeUndefined();
    await reader[Symbol.asyncDispose]();
    expect((await readToEnd(trial)).map(text)).toEqual(numbered("run", 11, 20).map(text));
  },

  'until "now" does not wait for minRecords that cannot come': async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    await using reader = await trial.reader({ until: "now" });
    const batch = await mustNext(reader, { ...eager, minRecords: 10, maxWaitMs: 100_000 });
    expect(batch.records).toHaveLength(3);
  },

  'until "now" ends at once on an empty topic, and on one that has been read': async (trial: Trial) => {
    expect(await readToEnd(trial)).toEqual([]);
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    expect(await readToEnd(trial)).toHaveLength(3);
    expect(await readToEnd(trial)).toEqual([]);
  },

  "a fleeting group is forgotten when its reader is closed": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    const group = `fleeting-${trial.topic}`;
    for (let time = 0; time < 2; time++) {
      await using reader = await trial.reader({ group, until: "now", fleeting: true });
      expect(await readAll(reader, 2)).toHaveLength(2);
    }
    expect((await readToEnd(trial, group)).map(text)).toEqual(numbered("run", 1, 3).map(text));
  },

  "a new group that reads since a time is given all that was appended from then on": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    await delay(5);
    const since = Date.now();
    await trial.log().append(trial.topic, numbered("run", 4, 6));
    await using reader = await trial.reader({ since, until: "now" });
    const given = (await readAll(reader, Infinity)).map(text);
    const first = trial.subject.findsTimeRoughly ? 1 : 4;
    expect(given).toEqual(numbered("run", first, 6).map(text));
    await reader[Symbol.asyncDispose]();
    // Its position counts now, and not the time.
    await trial.log().append(trial.topic, numbered("run", 7, 8));
    await using goesOn = await trial.reader({ since, until: "now" });
    expect((await readAll(goesOn, Infinity)).map(text)).toEqual(numbered("run", 7, 8).map(text));
  },

  "a new group that reads since a time to come is given what is appended then": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    await using reader = await trial.reader({ since: Date.now() + 60_000, until: "now" });
    expect(await readAll(reader, Infinity)).toHaveLength(trial.subject.findsTimeRoughly ? 3 : 0);
  },

  "next resolves undefined when the signal aborts, also when it has aborted before": async (trial: Trial) => {
    const stop = new AbortController();
    await using reader = await trial.reader({ signal: stop.signal });
    const pending = reader.next(eager);
    stop.abort();
    expect(await pending).toBeUndefined();
    await trial.log().append(trial.topic, numbered("run", 1, 1));
    expect(await reader.next(eager)).toBeUndefined();
  },

  "a reader opened with an aborted signal has nothing to give": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 1));
    await using reader = await trial.reader({ signal: AbortSignal.abort() });
    expect(await reader.next(eager)).toBeUndefined();
  },

  "a batch in hand can still be committed after the signal has aborted": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 2));
    const stop = new AbortController();
    const reader = await trial.reader({ signal: stop.signal });
    const batch = await mustNext(reader);
    stop.abort();
    expect(batch.signal.aborted).toBe(false);
    await batch.commit();
    await trial.reopen();
    expect(await readToEnd(trial)).toEqual([]);
  },

  "the epoch is the same from batch to batch and another when the log is reopened": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    const reader = await trial.reader();
    const first = await mustNext(reader, { ...eager, maxRecords: 1 });
    await first.commit();
    const second = await mustNext(reader, { ...eager, maxRecords: 1 });
    expect(second.epoch).toBe(first.epoch);
    await trial.reopen();
    const third = await mustNext(await trial.reader());
    expect(third.epoch).not.toBe(first.epoch);
  },

  "closing a reader that waits rejects its next with closed": async (trial: Trial) => {
    const reader = await trial.reader();
    const pending = refusal(reader.next(eager));
    await reader[Symbol.asyncDispose]();
    expect(await pending).toMatchObject({ code: "closed", retryable: false });
    expect(await refusal(reader.next(eager))).toMatchObject({ code: "closed" });
    await reader[Symbol.asyncDispose]();
  },

  "a batch cannot be committed once its reader is closed": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 2));
    const reader = await trial.reader();
    const batch = await mustNext(reader);
    await reader[Symbol.asyncDispose]();
    expect(batch.signal.aborted).toBe(true);
    expect(await refusal(batch.commit())).toMatchObject({ code: "closed" });
    expect(await readToEnd(trial)).toHaveLength(2);
  },

  "closing the log closes its readers": async (trial: Trial) => {
    const reader = await trial.reader();
    const pending = refusal(reader.next(eager));
    await trial.log()[Symbol.asyncDispose]();
    expect(await pending).toMatchObject({ code: "closed" });
  },

  "what is called after the log was closed rejects with closed": async (trial: Trial) => {
    const log = trial.log();
    await log[Symbol.asyncDispose]();
    await log[Symbol.asyncDispose]();
    expect(await refusal(log.append(trial.topic, numbered("run", 1, 1)))).toMatchObject({ code: "closed" });
    expect(await refusal(log.ping())).toMatchObject({ code: "closed" });
    const opening = log.open(trial.topic, { group: "store", signal: new AbortController().signal });
    expect(await refusal(opening)).toMatchObject({ code: "closed" });
  },

  "closing while appending stores what it acknowledged and leaves nothing hanging": async (trial: Trial) => {
    const appends = Array.from({ length: 20 }, (_, n) =>
      trial
        .log()
        .append(trial.topic, numbered("run", n + 1, n + 1))
        .then(
          () => `run ${n + 1}`,
          (error: unknown) => error,
        ),
    );
    await trial.log()[Symbol.asyncDispose]();
    const acknowledged: string[] = [];
    for (const outcome of await Promise.all(appends)) {
      if (typeof outcome === "string") acknowledged.push(outcome);
      else expect(outcome).toBeInstanceOf(EventLogError);
    }
    await trial.reopen();
    expect((await readToEnd(trial)).map(text)).toEqual(expect.arrayContaining(acknowledged));
  },
};
