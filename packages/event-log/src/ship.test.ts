import { EventLogError, type EventLog, type LogRecord, type NewRecord } from "./event-log.ts";
import { openEventLog } from "./open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describe, expect, it } from "vitest";

import { type Progress, ship } from "./ship.ts";

const never = new AbortController().signal;
const record = (number: number): NewRecord => ({ key: "run", value: Buffer.from(String(number)) });

async function memoryLog(): Promise<EventLog> {
  return await openEventLog("memory:", { log: silentLog, metrics: createMetrics() });
}

async function readAll(log: EventLog): Promise<string[]> {
  await using reader = await log.open("clicks", { group: "check", until: "now", signal: never });
  const all: string[] = [];
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 1000, maxBytes: 1e9, maxWaitMs: 0 });
    if (batch === undefined) return all;
    all.push(...batch.records.map(({ value }) => Buffer.from(value).toString()));
    await batch.commit();
  }
}

/** Ships what is in `journal` by now; gives what was set aside. */
async function shipAll(journal: EventLog, to: Pick<EventLog, "append">, signal = never) {
  const progress: Progress = { shipped: 0, setAside: 0, oldestInHand: undefined, trouble: undefined };
  const aside: LogRecord[] = [];
  await using from = await journal.open("clicks", { group: "shipper", until: "now", signal });
  const setAside = async (each: LogRecord) => void aside.push(each);
  const done = ship({ topic: "clicks", from, to, setAside, progress, signal });
  await done;
  return { progress, aside };
}

describe("the shipper", () => {
  it("copies what is journaled, in order, and does it once", async () => {
    await using journal = await memoryLog();
    await using log = await memoryLog();
    const numbers = Array.from({ length: 12_000 }, (_, index) => index);
    await journal.append("clicks", numbers.map(record));
    const { progress } = await shipAll(journal, log);
    await shipAll(journal, log);
    expect(await readAll(log)).toEqual(numbers.map(String));
    expect(progress).toMatchObject({ shipped: 12_000, oldestInHand: undefined, trouble: undefined });
  });

  it("tries again, in the same order, for as long as the log does not take anything", async () => {
    await using journal = await memoryLog();
    await using log = await memoryLog();
    await journal.append("clicks", [record(1), record(2)]);
    let refusals = 3;
    const unwilling: Pick<EventLog, "append"> = {
      async append(topic, records) {
        refusals -= 1;
        if (refusals >= 0) throw new EventLogError(refusals % 2 === 0 ? "full" : "unavailable", "not now");
        await log.append(topic, records);
      },
    };
    await shipAll(journal, unwilling);
    expect(await readAll(log)).toEqual(["1", "2"]);
  });

  it("sets aside what the log can never take, counts it, and goes on with the rest", async () => {
    await using journal = await memoryLog();
    await using log = await memoryLog();
    await journal.append("clicks", [0, 1, 2, 3, 4].map(record));
    const narrow: Pick<EventLog, "append"> = {
      async append(topic, records) {
        const indexes = records.flatMap(({ value }, index) =>
          Number(Buffer.from(value)) % 3 === 0 ? [index] : [],
        );
        if (indexes.length > 0) throw new EventLogError("too-large", "too large", { indexes });
        await log.append(topic, records);
      },
    };
    const { progress, aside } = await shipAll(journal, narrow);
    expect(await readAll(log)).toEqual(["1", "2", "4"]);
    expect(aside.map(({ value }) => Buffer.from(value).toString())).toEqual(["0", "3"]);
    expect(progress).toMatchObject({ shipped: 3, setAside: 2 });
  });

  it("stops waiting for the log when it is told to, and the next one ships what is left", async () => {
    await using journal = await memoryLog();
    await using log = await memoryLog();
    await journal.append("clicks", [record(1)]);
    const stop = new AbortController();
    const away: Pick<EventLog, "append"> = {
      async append() {
        stop.abort();
        throw new EventLogError("unavailable", "away");
      },
    };
    await expect(shipAll(journal, away, stop.signal)).rejects.toMatchObject({ name: "AbortError" });
    await shipAll(journal, log);
    expect(await readAll(log)).toEqual(["1"]);
  });

  it("ends on an error that trying again cannot mend", async () => {
    await using journal = await memoryLog();
    await journal.append("clicks", [record(1)]);
    const broken = { append: () => Promise.reject(new EventLogError("misuse", "no such topic")) };
    await expect(shipAll(journal, broken)).rejects.toMatchObject({ code: "misuse" });
  });
});
