import { expect } from "vitest";
import { maxMessageBytes, maxWaiting } from "../pub-sub.ts";
import { refusal, type Trial } from "./trial.ts";

/** What gets through, to whom, and what does not. */
export const delivery = {
  "a subscriber is first told of a gap, and then hears its own process and others, in order": async (
    trial: Trial,
  ) => {
    const here = await trial.open();
    const there = await trial.open();
    const heard = await trial.hear(here);
    for (let n = 0; n < 50; n += 1) await here.publish(trial.channel, `here ${n}`);
    for (let n = 0; n < 50; n += 1) await there.publish(trial.channel, `there ${n}`);
    await heard.until(({ length }) => length === 100);
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const all = [...numbers.map((n) => `here ${n}`), ...numbers.map((n) => `there ${n}`)];
    expect(heard.messages()).toEqual(all);
  },

  "every subscriber of a channel hears a message, and nobody else": async (trial: Trial) => {
    const here = await trial.open();
    const there = await trial.open();
    const listeners = [await trial.hear(here), await trial.hear(here), await trial.hear(there)];
    const stranger = await trial.hear(there, `${trial.channel}.b`);
    await here.publish(trial.channel, "x");
    await here.publish(`${trial.channel}.b`, "for b");
    for (const heard of listeners) await heard.until(({ length }) => length === 1);
    await stranger.until(({ length }) => length === 1);
    expect(listeners.map((heard) => heard.messages())).toEqual([["x"], ["x"], ["x"]]);
    expect(stranger.messages()).toEqual(["for b"]);
  },

  "any text comes as it was sent, up to the limit in bytes; above it nothing is sent": async (
    trial: Trial,
  ) => {
    const pubSub = await trial.open();
    const heard = await trial.hear(pubSub);
    const texts = ["", 'it\'s "quoted" \\ $1', "line\r\nline", "ü🍞", "é".repeat(maxMessageBytes / 2)];
    const tooLong = await refusal(pubSub.publish(trial.channel, `${"é".repeat(maxMessageBytes / 2)}x`));
    expect(tooLong).toMatchObject({ code: "too-large", retryable: false });
    for (const text of texts) await pubSub.publish(trial.channel, text);
    await heard.until(({ length }) => length === texts.length);
    expect(heard.messages()).toEqual(texts);
  },

  "a channel that cannot be is refused, by name": async (trial: Trial) => {
    const pubSub = await trial.open();
    const { signal } = new AbortController();
    for (const channel of ["", "Upper", "9", 'a"b', "a b", "a".repeat(64)]) {
      expect(await refusal(pubSub.publish(channel, "x"))).toMatchObject({ code: "misuse" });
      expect(() => pubSub.subscribe(channel, { signal })).toThrow(/^channel takes/);
    }
    await pubSub.publish("a".repeat(63), "x");
  },

  "one who leaves hears no more, the others do, and who comes again is told of a gap": async (
    trial: Trial,
  ) => {
    const pubSub = await trial.open();
    const leaver = await trial.hear(pubSub);
    const stayer = await trial.hear(pubSub);
    leaver.stop();
    await leaver.ended;
    await pubSub.publish(trial.channel, "1");
    await stayer.until(({ length }) => length === 1);
    stayer.stop();
    await stayer.ended;
    await pubSub.publish(trial.channel, "2");
    const again = await trial.hear(pubSub);
    await pubSub.publish(trial.channel, "3");
    await again.until(({ length }) => length === 1);
    expect([leaver.messages(), stayer.messages(), again.messages()]).toEqual([[], ["1"], ["3"]]);
  },

  "a slow subscriber gets what it can hold, hears of the gap, and slows down nobody": async (
    trial: Trial,
  ) => {
    const pubSub = await trial.open();
    const stop = new AbortController();
    const slow = pubSub.subscribe(trial.channel, { signal: stop.signal })[Symbol.asyncIterator]();
    expect(await slow.next()).toMatchObject({ value: { kind: "gap" } });
    const fast = await trial.hear(pubSub);
    const flood = 3 * maxWaiting;
    for (let n = 0; n < flood; n += 1) await pubSub.publish(trial.channel, `${n}`);
    await fast.until(({ length }) => length === flood);
    expect(await trial.metric("pub_sub_dropped_total")).toBe(flood - maxWaiting);
    for (let n = 0; n < maxWaiting; n += 1) {
      expect(await slow.next()).toMatchObject({ value: { message: `${n}` } });
    }
    expect(await slow.next()).toMatchObject({ value: { kind: "gap" } });
    await pubSub.publish(trial.channel, "after");
    expect(await slow.next()).toMatchObject({ value: { message: "after" } });
    stop.abort();
    expect(await slow.next()).toMatchObject({ done: true });
  },

  "closing ends subscriptions, and what is called then rejects with closed": async (trial: Trial) => {
    const pubSub = await trial.open();
    const heard = await trial.hear(pubSub);
    await pubSub.ping();
    await pubSub[Symbol.asyncDispose]();
    await pubSub[Symbol.asyncDispose]();
    await heard.ended;
    const closed = { code: "closed", retryable: false };
    expect(await refusal(pubSub.publish(trial.channel, "x"))).toMatchObject(closed);
    expect(await refusal(pubSub.ping())).toMatchObject(closed);
    for await (const _ of pubSub.subscribe(trial.channel, { signal: new AbortController().signal })) {
      throw new Error("a closed one said something");
    }
  },
};
