import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect } from "vitest";
import { uuidv7 } from "../testing/clicks.ts";
import { never, type Trial } from "./trial.ts";

/** What the search for repeats asks. */
export const lookUps = {
  "the highest number of a run and which are stored are known, repeats or not": async (trial: Trial) => {
    const { store, options, rowsOf } = trial;
    const [run, other] = [uuidv7(), uuidv7()];
    const ts = 1_750_000_000_000;
    const rows = rowsOf(run, 1_000, { ts }).filter(({ edge_seq }) => edge_seq !== 500);
    await store.insertClicks(rows, options);
    await store.insertClicks(rows.slice(0, 300), options);
    await store.insertClicks(rowsOf(other, 5_000, { ts }), options);

    expect(await store.highestStored(run, ts, never)).toBe(1_000);
    expect(await store.highestStored(run, ts + 999, never)).toBe(1_000);
    expect(await store.highestStored(run, ts + 1_000, never)).toBe(0);
    expect(await store.highestStored(uuidv7(), ts, never)).toBe(0);

    const all = { fromTs: ts, toTs: ts + 10_000 };
    const near = await store.storedNumbers(run, { fromSeq: 499, toSeq: 502, ...all }, never);
    expect(near).toEqual(new Set([499, 501, 502]));
    const whole = await store.storedNumbers(run, { fromSeq: 1, toSeq: 2_000, ...all }, never);
    expect(whole.size).toBe(999);
    const early = { fromSeq: 1, toSeq: 2_000, fromTs: ts, toTs: ts + 9 };
    const inTime = await store.storedNumbers(run, early, never);
    expect(inTime).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
  },

  "a look-up is tried once, and says whether it may be tried again": async ({ subject, open }: Trial) => {
    await using proxy = await openTcpProxy(subject.url);
    proxy.refuse();
    const store = open(proxy.url);
    const away = { name: "ClickStoreError", class: "retry", code: 0, retryable: true };
    const range = { fromSeq: 1, toSeq: 1, fromTs: 0, toTs: 1 };
    await expect(store.highestStored(uuidv7(), 0, never)).rejects.toMatchObject(away);
    await expect(store.storedNumbers(uuidv7(), range, never)).rejects.toMatchObject(away);
    await expect(store.ping()).rejects.toMatchObject(away);
    const reason = new Error("not ours any more");
    await expect(store.highestStored(uuidv7(), 0, AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(store.earlierInsertsSettled(AbortSignal.abort(reason))).rejects.toBe(reason);
    proxy.flow();
    await store.ping();
  },
};
