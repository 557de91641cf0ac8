import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import {
  array,
  assert,
  asyncProperty,
  nat,
  record as recordOf,
  string,
  stringMatching,
  uint8Array,
} from "fast-check";
import { expect, test } from "vitest";
import { EventLogError, type LogRecord, type NewRecord } from "../event-log.ts";
import { maxRecordBytes } from "../journal/record.ts";
import { createMemoryStore, openMemoryEventLog } from "../memory/event-log.ts";
import { archiveTopic } from "./archive-topic.ts";
import { pack, unpack } from "./file-format.ts";
import { entryPath, parseEntryPath } from "./layout.ts";
import { openArchiveReader } from "./read-archive.ts";
import { type ArchiveStorage, openArchiveStorage } from "./storage.ts";

const never = new AbortController().signal;
const ofStorage = { giveUpAfterMs: 60_000, failing: () => {}, signal: never };
const recordsOf = (...values: string[]): NewRecord[] =>
  values.map((value) => ({ key: "a key", value: Buffer.from(value) }));

/** An archive on disk, and a log whose records can be archived again and again as an archiver's new lives. */
async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const storage = await openArchiveStorage(`file://${path}`, {});
  const log = stack.use(openMemoryEventLog(createMemoryStore()));
  const opened = stack.move();
  return {
    path,
    storage,
    append: (...values: string[]) => log.append("clicks", recordsOf(...values)),
    async archive({ to = storage, maxBytes = 1e6 } = {}) {
      await using reader = await log.open("clicks", { group: "archive", until: "now", signal: never });
      await archiveTopic({
        reader,
        storage: to,
        topic: "clicks",
        maxBytes,
        maxWaitMs: 0,
        archived: () => {},
        log: silentLog,
        ...ofStorage,
      });
    },
    read: (range: { from?: number; to?: number } = {}) => readAll(storage, range),
    /** The paths of its files, the oldest first. */
    async files(kind: "files" | "manifest") {
      const found = await readdir(join(path, "clicks", kind), { recursive: true });
      return found
        .filter((name) => /\.(?:zst|json)$/.test(name))
        .toSorted()
        .map((name) => `clicks/${kind}/${name}`);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function readAll(storage: ArchiveStorage, { from = 0, to = Infinity }) {
  const problems: string[] = [];
  const problem = (name: string, what: string) => problems.push(`${name}: ${what}`);
  const reader = await openArchiveReader({ storage, topic: "clicks", from, to, problem, ...ofStorage });
  const records: LogRecord[] = [];
  const sizes: number[] = [];
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 2, maxBytes: 1e6, maxWaitMs: 0 });
    if (batch === undefined) break;
    sizes.push(batch.records.length);
    records.push(...batch.records);
    await batch.commit();
  }
  return { values: records.map(({ value }) => Buffer.from(value).toString()), records, sizes, problems };
}

test("what was archived in several lives is read once, with ids, keys and times, in its order", async () => {
  await using world = await openWorld();
  await world.append("1", "2", "3");
  await world.archive();
  await world.archive();
  await world.append("4", "5");
  await world.archive({ maxBytes: 1 });
  const { values, records, sizes, problems } = await world.read();
  expect(values).toEqual(["1", "2", "3", "4", "5"]);
  expect(records.map(({ id, key }) => `${id} ${key}`)).toEqual(
    ["0", "1", "2", "3", "4"].map((id) => `${id} a key`),
  );
  expect(Math.abs(Date.now() - (records[0]?.appendedAt ?? 0))).toBeLessThan(60_000);
  expect(problems).toEqual([]);
  expect(await world.files("files")).toHaveLength(3);
  // As large as they may be, whatever the files have.
  expect(sizes).toEqual([2, 2, 1]);
});

test("any record comes back as it was", async () => {
  const record = recordOf({
    id: stringMatching(/^[0-9a-f:-]{1,60}$/),
    key: string({ unit: "binary", maxLength: 100 }).map((text) => Buffer.from(text).toString()),
    value: uint8Array({ maxLength: 300 }),
    appendedAt: nat(),
  });
  await assert(
    asyncProperty(array(record), async (records) => {
      const { bytes, seal } = await pack(records, "run");
      const unpacked = await unpack(bytes, { seal, run: "run" });
      if (typeof unpacked === "string") throw new Error(unpacked);
      expect(unpacked.map((each) => ({ ...each, value: Uint8Array.from(each.value) }))).toEqual(records);
    }),
  );
});

test("names hold the times and the number; what is no entry has none", () => {
  const name = {
    fromMs: 1_790_000_000_123,
    toMs: 1_790_000_060_000,
    run: crypto.randomUUID(),
    seq: 1_234_567,
  };
  const path = entryPath("clicks", name);
  expect(parseEntryPath(path)).toEqual(name);
  expect(path).toContain("clicks/manifest/2026-09-21/20260921T141320.123Z-20260921T141420.000Z-");
  expect(parseEntryPath(`${path}.part`)).toBeUndefined();
  expect(parseEntryPath("clicks/manifest/2026-09-21")).toBeUndefined();
});

test("of a time, the files that have records of it are read", async () => {
  await using world = await openWorld();
  const times: number[] = [];
  for (const value of ["1", "2", "3"]) {
    await expect.poll(() => Date.now()).toBeGreaterThan(times.at(-1) ?? 0);
    await world.append(value);
    await world.archive();
    times.push((await world.read()).records.at(-1)?.appendedAt ?? 0);
  }
  const [, second = 0, third = 0] = times;
  expect((await world.read({ from: second, to: third })).values).toEqual(["2"]);
  expect((await world.read({ from: second })).values).toEqual(["2", "3"]);
  expect((await world.read({ to: second })).values).toEqual(["1"]);
});

test("a damaged file, one that is gone, and an entry that is gone are named; the others are read", async () => {
  await using world = await openWorld();
  await world.append("1", "2", "3", "4", "5", "6");
  await world.archive({ maxBytes: 1 });
  const files = byNumber(await world.files("files"));
  const [, , , , entry = ""] = byNumber(await world.files("manifest"));
  const [, damaged = "", gone = "", short = ""] = files;
  const bytes = await world.storage.get(damaged, 1e6);
  await writeFile(
    join(world.path, damaged),
    Buffer.from((bytes ?? []).map((byte, at) => (at === 9 ? byte ^ 1 : byte))),
  );
  await rm(join(world.path, gone));
  await writeFile(join(world.path, short), "");
  await rm(join(world.path, entry));
  const { values, problems } = await world.read();
  expect(values).toEqual(["1", "6"]);
  expect(problems).toEqual([
    expect.stringMatching(/^[0-9a-f-]{36}-000005: it is not in the manifest/),
    expect.stringContaining(`${damaged}: its SHA-256 is `),
    expect.stringContaining(`${gone}: it is not there`),
    expect.stringContaining(`${short}: it has 0 bytes, and had `),
  ]);
});

test("an entry that is damaged is named, and the others are read", async () => {
  await using world = await openWorld();
  await world.append("1", "2", "3");
  await world.archive({ maxBytes: 1 });
  const [torn = "", wrong = ""] = byNumber(await world.files("manifest"));
  await writeFile(join(world.path, torn), '{"format": 1');
  const entry = (await world.storage.get(wrong, 1e6))?.toString() ?? "";
  await writeFile(join(world.path, wrong), entry.replace(/"rawBytes": \d+/, '"rawBytes": 7'));
  const { values, problems } = await world.read();
  expect(values).toEqual(["3"]);
  expect(problems).toEqual([
    `${torn}: it is damaged`,
    expect.stringContaining(": it is not 7 bytes, compressed"),
  ]);
});

test("a manifest of a newer version is not guessed at", async () => {
  await using world = await openWorld();
  await world.append("1");
  await world.archive();
  const [path = ""] = await world.files("manifest");
  const entry = (await world.storage.get(path, 1e6))?.toString() ?? "";
  await writeFile(join(world.path, path), entry.replace('"format": 1', '"format": 2'));
  await expect(world.read()).rejects.toThrow(`this version reads format 1, ${path} has format 2`);
});

test("a record that is too large for a file is left out by its id, and the others are archived", async () => {
  const record = { key: "", appendedAt: 1, value: Buffer.alloc(1) };
  const packed = await pack(
    [
      { ...record, id: "0:1" },
      { ...record, id: "0:2", value: Buffer.alloc(maxRecordBytes) },
    ],
    "r",
  );
  expect(packed.leftOut).toEqual(["0:2"]);
  expect(await unpack(packed.bytes, { seal: packed.seal, run: "r" })).toHaveLength(1);
});

test("a storage that fails is tried again where that may help; nothing is committed before the manifest has it", async () => {
  await using world = await openWorld();
  await world.append("1");
  const paths: string[] = [];
  const failing = (code: "unavailable" | "misuse", failures: number): ArchiveStorage => ({
    ...world.storage,
    async put(path, bytes) {
      paths.push(path.replace(/.*\./, ""));
      if (paths.length > 1 && paths.length <= 1 + failures) throw new EventLogError(code, "the manifest");
      await world.storage.put(path, bytes);
    },
  });
  await expect(world.archive({ to: failing("misuse", 9) })).rejects.toThrow("the manifest");
  expect(paths).toEqual(["zst", "json"]);
  expect((await world.read()).values).toEqual([]);
  paths.length = 0;
  await world.archive({ to: failing("unavailable", 2) });
  expect(paths).toEqual(["zst", "json", "json", "json"]);
  await world.archive();
  expect((await world.read()).values).toEqual(["1"]);
  expect(await world.files("files")).toHaveLength(2);
});

test("two archivers of one archive lose nothing of each other's", async () => {
  await using world = await openWorld();
  await using other = await openWorld();
  await world.append("1", "2");
  await other.append("3", "4");
  await Promise.all([world.archive({ maxBytes: 1 }), other.archive({ to: world.storage, maxBytes: 1 })]);
  expect((await world.read()).values.toSorted()).toEqual(["1", "2", "3", "4"]);
});

function byNumber(paths: readonly string[]): string[] {
  return paths.toSorted((a, b) => numberOf(a).localeCompare(numberOf(b)));
}

function numberOf(path: string): string {
  return /-(\d{6})\.\w+$/.exec(path)?.[1] ?? "";
}
