import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { decodeEnriched } from "@sluice/click-event/decode-enriched.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { LogRecord, NewRecord } from "@sluice/event-log/event-log.ts";
import { type JournalWriter, openJournalWriter } from "@sluice/event-log/journal-writer.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { beforeEach, expect, test, vi } from "vitest";
import { openJournal, openStores } from "./testing/fan-out-world.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { clickRecord, refusedRecord, sampleClick } from "./testing/sample-clicks.ts";

const deps = { log: silentLog, metrics: createMetrics() };
const { signal } = new AbortController();

describeWith("what a journal owes to the fan-out", openStores, (stores) => {
  beforeEach(async () => {
    await stores().unsubscribe();
    await stores().subscribe();
  });

  let runs = 7_000;

  /**
   * A journal whose store loop has read all of an edge's clicks and whose fan-out loop none, so that it has let go of
   * some. `refused` of its numbers come after the hundredth click, without a record.
   */
  async function openOwing({ refused = 0 } = {}) {
    await using stack = new AsyncDisposableStack();
    const { path } = stack.use(await tempDir());
    const rules = { groups: ["store", "fanout"], yielding: ["fanout"] };
    runs += 1;
    const edge = runs;
    const clicks = Array.from({ length: 400 }, (_, index) =>
      sampleClick(edge, index + 1 + (index < 100 ? 0 : refused), { ts: Date.now() + index }),
    );
    const [first] = clicks;
    if (first === undefined) throw new Error("no clicks");
    const url = `journal://${path}?groups=store,fanout&yielding=fanout`;
    const { CLICK_STORE_URL, ...others } = stores().settings;
    await using _ = startIngester({ EVENT_LOG_URL: url, CLICK_STORE_URL, BATCH_MAX_WAIT_MS: "20" });
    await using writer = await openJournalWriter(path, {
      topic: "clicks",
      run: first.edge_run,
      ...rules,
      minAgeMs: 0,
      budgetBytes: 130_000,
      reserveBytes: 0,
      segmentBytes: 8_000,
      fsync: "interval",
      fsyncIntervalMs: 1_000,
      ...deps,
    });
    for (let from = 0; from < clicks.length; from += 100) {
      const records = clicks.slice(from, from + 100).map(clickRecord);
      if (from === 100 && refused > 0) records.push(refusedRecord(edge, 101, 100 + refused));
      // What is stored is committed a moment later, and only then may the journal let go of it.
      for (const record of records) await vi.waitFor(() => appended(writer, record), { timeout: 30_000 });
      await expect.poll(() => stores().stored({ run: edge }), { timeout: 30_000 }).toBe(from + 100);
    }
    const fanOutUrl = `journal://${join(path, "fan-out")}?groups=dispatcher`;
    const opened = stack.move();
    return {
      /** What is still there for the fan-out loop, and what is not. */
      async parts(): Promise<{ left: string[]; gone: string[] }> {
        const left = (await readAll(url, "clicks", "fanout")).flatMap(({ value }) => {
          const decoded = decodeRecord(value);
          return decoded.kind === "click" ? [decoded.event.event_id] : [];
        });
        return { left, gone: idsOf(clicks).filter((id) => !left.includes(id)) };
      },
      /** What it prints. */
      async replayOwed(...args: string[]): Promise<string> {
        const env = { EVENT_LOG_URL: url, CLICK_STORE_URL, FANOUT_LOG_URL: fanOutUrl, ...others };
        return await run("replay-owed.ts", args, env);
      },
      /** What the dispatcher finds that it has not read before, all of it marked as no news. */
      async dispatched(): Promise<string[]> {
        return await dispatched(fanOutUrl);
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  }

  test("is given from the table: exactly what it has let go of, and once", async () => {
    await using journal = await openOwing();
    const { gone, left } = await journal.parts();
    expect(gone.length).toBeGreaterThan(50);
    expect(left.length).toBeGreaterThan(20);
    expect(await journal.replayOwed("--dry-run")).toMatch(
      new RegExp(
        `^\\d+ ranges owed, ${gone.length} clicks of them in the table, ${gone.length} would be passed on$`,
      ),
    );
    expect(await journal.replayOwed("--rate=2000")).toMatch(new RegExp(`, ${gone.length} passed on$`));
    expect((await journal.dispatched()).toSorted()).toEqual(gone.toSorted());
    expect(await journal.replayOwed()).toBe("0 ranges owed, 0 clicks of them in the table, 0 passed on");
    expect(await journal.dispatched()).toEqual([]);
  });

  test("is given though an edge has refused clicks, which have numbers and no records", async () => {
    await using journal = await openOwing({ refused: 5 });
    const { gone } = await journal.parts();
    await journal.replayOwed();
    const given = await journal.dispatched();
    expect(gone.filter((id) => !given.includes(id))).toEqual([]);
    expect(given.length - gone.length).toBeLessThanOrEqual(5);
  });

  test("is given only to those who want it now", async () => {
    await using journal = await openOwing();
    await stores().unsubscribe();
    expect(await journal.replayOwed()).toMatch(/[1-9]\d* clicks of them in the table, 0 passed on$/);
  });
});

describeWith("a replay with --fan-out", openStores, (stores) => {
  test("passes on what is wanted of its time, as no news, and stores what is missing", async () => {
    await stores().subscribe();
    await using journal = await openJournal();
    const env = { ...stores().settings, ...journal.settings };
    await journal.append(20);
    await delay(5);
    const from = Date.now();
    const wanted = await journal.append(30);
    expect(await run("replay.ts", ["--fan-out", `--from=${from}`], env)).toBe(
      "30 records read, 0 clicks stored already, 30 stored now, 0 dead letters, 30 passed on",
    );
    expect(await dispatched(journal.settings.FANOUT_LOG_URL)).toEqual(wanted);
    // Again, and nothing is lost or new.
    expect(await run("replay.ts", ["--fan-out", `--from=${from}`], env)).toMatch(
      /30 clicks stored already, 0 .* 30 /,
    );
    expect(await dispatched(journal.settings.FANOUT_LOG_URL)).toEqual(wanted);
    await run("replay.ts", [], env);
    expect(await dispatched(journal.settings.FANOUT_LOG_URL)).toEqual([]);
  });

  test("says which setting it lacks", async () => {
    await using journal = await openJournal();
    const { DATABASE_URL: _, ...env } = { ...stores().settings, ...journal.settings };
    const refused = run("replay.ts", ["--fan-out"], env);
    await expect(refused).rejects.toThrow(
      "DATABASE_URL is missing: the Postgres that knows who wants clicks",
    );
  });
});

async function appended(writer: JournalWriter, record: NewRecord): Promise<void> {
  const written = Promise.withResolvers<void>();
  writer.append(record, (error) => (error === undefined ? written.resolve() : written.reject(error)));
  await written.promise;
}

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const file = join(import.meta.dirname, program);
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { env });
  return stdout.trim();
}

/** The ids of what the dispatcher has not read before, all of which has to be marked as no news. */
async function dispatched(fanOutUrl: string): Promise<string[]> {
  return (await readAll(fanOutUrl, "clicks.fanout", "dispatcher")).map(({ value }) => {
    const decoded = decodeEnriched(value);
    if (decoded.kind === "undecodable") throw new Error(decoded.detail);
    expect(decoded.replayed).toBe(true);
    return decoded.event.event_id;
  });
}

const idsOf = (clicks: readonly ClickEvent[]) => clicks.map(({ event_id }) => event_id);

async function readAll(url: string, topic: string, group: string): Promise<LogRecord[]> {
  await using log = await openEventLog(url, deps);
  await using reader = await log.open(topic, { group, until: "now", signal });
  const found: LogRecord[] = [];
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 1_000, maxBytes: 1 << 24, maxWaitMs: 1 });
    if (batch === undefined) return found;
    found.push(...batch.records);
    await batch.commit();
  }
}
