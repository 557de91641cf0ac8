import { appendFile, copyFile, readFile, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { append, appendAll, drain, journalTrial, range, type Trial } from "./trial.ts";
import { headerBytes } from "./record.ts";

/** One record of `append` with its default size, on disk: header, the key "run", 100 bytes of value. */
const onDisk = headerBytes + 3 + 100;

async function segments(trial: Trial, run: string): Promise<string[]> {
  const folder = join(trial.folder, run);
  return (await readdir(folder))
    .filter((name) => name.endsWith(".seg"))
    .toSorted()
    .map((name) => join(folder, name));
}

async function onlySegment(trial: Trial, run: string): Promise<string> {
  const [path] = await segments(trial, run);
  if (path === undefined) throw new Error("no segment");
  return path;
}

/** A run whose writer was killed after so many records: as `close` leaves it, less the closing record. */
async function killedRun(trial: Trial, run: string, records: number): Promise<string> {
  const writer = await trial.writer(run);
  await appendAll(writer, 1, records);
  const path = await onlySegment(trial, run);
  await copyFile(path, `${path}.killed`);
  await writer[Symbol.asyncDispose]();
  await copyFile(`${path}.killed`, path);
  return path;
}

test("a tail torn at any byte costs the record it cuts, and none before it", async () => {
  await using trial = await journalTrial();
  await fc.assert(
    fc.asyncProperty(fc.uuid(), fc.integer({ min: 0, max: 10 * onDisk }), async (run, bytes) => {
      const path = await killedRun(trial, run, 10);
      await truncate(path, bytes);
      expect(await drain(trial, { deadAfterMs: -1 })).toEqual(range(1, Math.floor(bytes / onDisk)));
    }),
    { numRuns: 60 },
  );
});

test("blocks of zeros behind the last record, as a power cut leaves them, are no records", async () => {
  await using trial = await journalTrial();
  const path = await killedRun(trial, "a", 10);
  await appendFile(path, Buffer.alloc(3 * 4096));
  expect(await drain(trial)).toEqual(range(1, 10));
});

test("zeros in the middle cost what they cover, are counted and reported with their bytes, and the rest is read", async () => {
  await using trial = await journalTrial();
  const path = await killedRun(trial, "a", 100);
  const bytes = await readFile(path);
  bytes.fill(0, 30 * onDisk + 5, 40 * onDisk - 5);
  await writeFile(path, bytes);
  expect(await drain(trial)).toEqual([...range(1, 30), ...range(41, 100)]);
  expect(trial.errors).toMatchObject([{ run: "a", fromByte: 30 * onDisk, toByte: 40 * onDisk, records: 10 }]);
  expect((await trial.metrics.render()).body).toMatch(/journal_skipped_records_total 10\b/);
});

test("any flipped byte costs the one record it is in, which is reported with its bytes", async () => {
  await using trial = await journalTrial();
  await fc.assert(
    fc.asyncProperty(
      fc.uuid(),
      fc.integer({ min: 0, max: 19 * onDisk - 1 }),
      fc.integer({ min: 1, max: 255 }),
      async (run, at, flip) => {
        const path = await killedRun(trial, run, 20);
        const bytes = await readFile(path);
        bytes.writeUInt8(bytes.readUInt8(at) ^ flip, at);
        await writeFile(path, bytes);
        const hit = Math.floor(at / onDisk) + 1;
        trial.errors.length = 0;
        expect(await drain(trial)).toEqual(range(1, 20).filter((number) => number !== hit));
        const [fromByte, toByte] = [(hit - 1) * onDisk, hit * onDisk];
        expect(trial.errors).toMatchObject([{ fromByte, toByte, records: 1 }]);
      },
    ),
    { numRuns: 100 },
  );
});

test("a record carried as the value of another is never taken for one of ours", async () => {
  await using trial = await journalTrial();
  const inner = await killedRun(trial, "inner", 1);
  const carried = await readFile(inner);
  await drain(trial);
  const writer = await trial.writer("outer");
  await new Promise((resolve) => writer.append({ key: "run", value: carried }, resolve));
  await append(writer, 2);
  const path = await onlySegment(trial, "outer");
  const bytes = await readFile(path);
  // The outer record's own header is damaged, so that the reader looks for the next whole record behind it.
  bytes.writeUInt8(bytes.readUInt8(8) ^ 1, 8);
  await writeFile(path, bytes);
  expect(await drain(trial)).toEqual([2]);
  await writer[Symbol.asyncDispose]();
});

test("a segment that is gone before it was read is reported, and the next is read", async () => {
  await using trial = await journalTrial();
  const writer = await trial.writer("a", { segmentBytes: 10 * onDisk });
  for (const number of range(1, 40)) await append(writer, number);
  const [, second] = await segments(trial, "a");
  await rm(second ?? "");
  expect(await drain(trial)).toEqual([...range(1, 10), ...range(21, 40)]);
  expect(trial.errors).toMatchObject([{ run: "a", records: 10 }]);
  await writer[Symbol.asyncDispose]();
});

test("a position that cannot be read means the oldest record", async () => {
  await using trial = await journalTrial();
  const writer = await trial.writer("a");
  await appendAll(writer, 1, 5);
  expect(await drain(trial)).toEqual(range(1, 5));
  await writeFile(join(trial.folder, "a", "store.pos"), Buffer.alloc(80, 7));
  expect(await drain(trial)).toEqual(range(1, 5));
  await writer[Symbol.asyncDispose]();
});

test("a commit that was cut short in the middle of its slot leaves the commit before it", async () => {
  await using trial = await journalTrial();
  const writer = await trial.writer("a");
  const path = join(trial.folder, "a", "store.pos");
  await appendAll(writer, 1, 5);
  await drain(trial);
  const before = await readFile(path);
  await appendAll(writer, 6, 8);
  await drain(trial);
  const after = await readFile(path);
  // The bytes that the second commit changed, half written.
  const changed = after.findIndex((byte, at) => byte !== before[at]);
  await writeFile(path, Buffer.concat([after.subarray(0, changed + 10), before.subarray(changed + 10)]));
  expect(await drain(trial)).toEqual(range(6, 8));
  await writer[Symbol.asyncDispose]();
});

test("after a power cut that took data the position knew of, no new record is skipped", async () => {
  await using trial = await journalTrial();
  const before = await trial.writer("1");
  await appendAll(before, 1, 10);
  const path = await onlySegment(trial, "1");
  const synced = (await readFile(path)).length;
  await appendAll(before, 11, 30);
  expect(await drain(trial)).toEqual(range(1, 30));
  await before[Symbol.asyncDispose]();
  await truncate(path, synced);
  const after = await trial.writer("2");
  await appendAll(after, 31, 40);
  expect(await drain(trial)).toEqual(range(31, 40));
  await after[Symbol.asyncDispose]();
});
