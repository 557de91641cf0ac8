import { encodeClick } from "@sluice/click-event/encode.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import type { DeadLetter } from "@sluice/click-store/click-store.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { beforeEach, expect, test } from "vitest";

import { run } from "../testing/run.ts";

const deps = { log: silentLog, metrics: createMetrics() };
const signal = new AbortController().signal;

async function openStores() {
  await using stack = new AsyncDisposableStack();
  const clickhouse = stack.use(await testClickHouse());
  const journal = stack.use(await tempDir());
  const env = {
    CLICK_STORE_URL: `${clickhouse.url}/${clickhouse.database}`,
    EVENT_LOG_URL: `journal://${journal.path}?groups=store`,
  };
  await migrate(env.CLICK_STORE_URL, { log: silentLog });
  const store = stack.use(await openClickStore(env.CLICK_STORE_URL, deps));
  const opened = stack.move();
  return { env, store, clickhouse, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const good = encodeClick(sampleClick());

function letter(recordId: string, fields: Partial<DeadLetter> = {}): DeadLetter {
  return {
    log: "journal",
    topic: "clicks",
    recordId,
    appendedAt: 1_790_000_000_000,
    key: "run",
    value: good,
    reason: "refused-by-table",
    error: "code 27: no",
    version: "1.2.3",
    number: 7,
    ...fields,
  };
}
const broken = { value: Buffer.from([0xff, 0x1b, 0x00]), reason: "not-json", number: 0 };

function ids(lines: readonly string[]): (string | undefined)[] {
  return lines.map((line) => line.split("  ")[1]);
}

describeWith("dead letters from the command line", openStores, (stores) => {
  const sluice = (...args: string[]) => run(stores().env, ["dead-letters", ...args]);
  const store = (...letters: DeadLetter[]) =>
    stores().store.insertDeadLetters(letters, { signal, onTrouble() {} });

  /** What a reader of the group finds in the log, each record once. */
  async function appended(group: string): Promise<{ key: string; value: string }[]> {
    await using events = await openEventLog(stores().env.EVENT_LOG_URL, deps);
    await using reader = await events.open("clicks", { group, until: "now", signal });
    const records = [];
    const want = { minRecords: 1_000, maxRecords: 1_000, maxBytes: 1e9, maxWaitMs: 1_000 };
    for (let batch = await reader.next(want); batch !== undefined; batch = await reader.next(want)) {
      records.push(...batch.records);
      await batch.commit();
    }
    return records.map(({ key, value }) => ({ key, value: Buffer.from(value).toString() }));
  }

  beforeEach(async () => {
    await appended("store");
    for (const table of ["click_dead_letters", "click_dead_letter_marks"]) {
      const { url, database } = stores().clickhouse;
      const body = `TRUNCATE TABLE ${table}`;
      await fetch(`${url}/?database=${database}`, { method: "POST", body });
    }
  });

  test("are listed by every filter, the latest first, page by page", async () => {
    await store(...Array.from({ length: 230 }, (_, index) => letter(`r:${index}`)));
    await store(letter("b:1", broken), letter("t:1", { topic: "other" }));
    expect((await sluice("list", "--limit", "231")).out).toHaveLength(231);
    const all = ids((await sluice("list", "--limit", "1000")).out);
    expect(all.slice(0, 2)).toEqual(["journal/clicks/b:1", "journal/other/t:1"]);
    expect(new Set(all).size).toBe(232);
    expect(ids((await sluice("list", "--reason", "not-json")).out)).toEqual(["journal/clicks/b:1"]);
    expect(ids((await sluice("list", "--topic", "other")).out)).toEqual(["journal/other/t:1"]);
    const one = ["--id", "journal/clicks/r:7", "--id", "journal/other/t:1"];
    expect((await sluice("list", ...one)).out).toHaveLength(2);
    expect((await sluice("list", "--from", "2200-01-01")).out).toEqual([]);
    expect((await sluice("list", "--to", "2020-01-01")).out).toEqual([]);
  });

  test("are shown whole, and bytes that a terminal might obey as base64", async () => {
    await store(letter("b:1", broken), letter("g:1"));
    const { out } = await sluice("show", "journal/clicks/b:1");
    expect(out).toContain("by        Sluice 1.2.3");
    expect(out.at(-1)).toBe("base64:/xsA");
    expect((await sluice("show", "journal/clicks/g:1")).out.at(-1)).toBe(Buffer.from(good).toString());
    expect((await sluice("show", "nowhere")).err).toBe("sluice: there is no dead letter nowhere");
  });

  test("are replayed to the event log once, however often it is said, and what is still broken stays", async () => {
    const letters = Array.from({ length: 250 }, (_, index) => letter(`r:${index}`));
    await store(...letters, letter("b:1", broken));
    expect(await sluice("replay", "--all", "--dry-run")).toEqual({
      code: 1,
      out: ["250 would be replayed", "1 still cannot be decoded, and stay open"],
      err: "",
    });
    expect(await appended("store")).toEqual([]);
    const first = await sluice("replay", "--all");
    expect(first).toMatchObject({ code: 1, err: "" });
    expect(first.out[0]).toBe("250 replayed");
    expect((await sluice("replay", "--all")).out[0]).toBe("0 replayed");
    const records = await appended("store");
    expect(records).toHaveLength(250);
    expect(records[0]).toEqual({ key: "run", value: Buffer.from(good).toString() });
    expect(ids((await sluice("list")).out)).toEqual(["journal/clicks/b:1"]);
    expect((await sluice("list", "--state", "replayed", "--limit", "999")).out).toHaveLength(250);
  });

  test("stay settled when their records are read again, and one of another record of that id is open", async () => {
    await store(letter("r:1"), letter("r:2"));
    expect((await sluice("discard", "--id", "journal/clicks/r:1")).out).toEqual(["1 discarded"]);
    await store(letter("r:1"), letter("r:2"));
    expect(ids((await sluice("list")).out)).toEqual(["journal/clicks/r:2"]);
    await store(letter("r:1", { appendedAt: 1_790_000_000_001 }));
    expect(ids((await sluice("list")).out)).toEqual(["journal/clicks/r:1", "journal/clicks/r:2"]);
  });

  test("are not settled all at once by leaving the filter out", async () => {
    await store(letter("r:1"));
    for (const verb of ["replay", "discard"]) {
      const outcome = await sluice(verb);
      expect(outcome).toMatchObject({ code: 1, out: [] });
      expect(outcome.err).toMatch(/^sluice: say which: /);
    }
    expect((await sluice("list")).out).toHaveLength(1);
  });
});
