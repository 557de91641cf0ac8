import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { silentLog } from "@sluice/service/log.ts";
import { tempDir, type TempDir } from "@sluice/testkit/temp-dir.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { type ClickLimits, openClickLimits, type SharedCounts } from "./click-limits.ts";

let dir: TempDir;
beforeEach(async () => {
  dir = await tempDir();
});
afterEach(() => dir[Symbol.asyncDispose]());

const link = 42;

let now = 0;
function open(shared?: SharedCounts, name = "limits.ndjson"): Promise<ClickLimits> {
  return openClickLimits({ path: join(dir.path, name), shared, log: silentLog, now: () => now });
}

/** As Redis counts; `away` while it cannot be reached. */
function createShared() {
  const counts = new Map<number, number>();
  const shared = {
    away: false,
    asked: 0,
    async countClicks(linkId: number, clicks: number): Promise<number> {
      shared.asked += 1;
      if (shared.away) throw new Error("Redis is away");
      const total = (counts.get(linkId) ?? 0) + clicks;
      counts.set(linkId, total);
      return total;
    },
    async ping() {},
    counts,
  };
  return shared;
}

/** How many of so many people get through. */
async function people(limits: ClickLimits, count: number, max: number): Promise<number> {
  let through = 0;
  for (let visit = 0; visit < count; visit += 1)
    if (await limits.use({ id: link, maxClicks: max }, true)) through += 1;
  return through;
}

describe("a link with a limit of clicks", () => {
  it("takes just as many people, and who is none uses up nothing", async () => {
    const limits = await open();
    for (let visit = 0; visit < 100; visit += 1)
      expect(limits.use({ id: link, maxClicks: 3 }, false)).toBe(true);
    expect(await people(limits, 10, 3)).toBe(3);
    expect(limits.use({ id: link, maxClicks: 3 }, false)).toBe(false);
    expect(limits.use({ id: 43, maxClicks: 3 }, true)).toBe(true);
    await limits[Symbol.asyncDispose]();
  });

  it("goes on from its count after a restart, and after the limit was raised", async () => {
    await using first = await open();
    expect(await people(first, 2, 3)).toBe(2);
    await first[Symbol.asyncDispose]();
    await using second = await open();
    expect(await people(second, 5, 3)).toBe(1);
    expect(await people(second, 10, 5)).toBe(2);
  });

  it("keeps its highest count, when several processes write the file", async () => {
    const [more, less] = [await open(), await open()];
    await people(more, 3, 10);
    await people(less, 1, 10);
    await more[Symbol.asyncDispose]();
    await less[Symbol.asyncDispose]();
    await using next = await open();
    expect(await people(next, 20, 10)).toBe(7);
  });

  it("starts from nothing when the file is damaged or cannot be written", async () => {
    await writeFile(join(dir.path, "limits.ndjson"), '{"link":42,"clicks":-1}\n');
    const limits = await open();
    await rm(dir.path, { recursive: true });
    expect(await people(limits, 5, 3)).toBe(3);
    await expect(limits[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  it("takes just as many at two edges that share their counts, also when all come at once", async () => {
    const shared = createShared();
    await using one = await open(shared, "one");
    await using two = await open(shared, "two");
    const through = await Promise.all([people(one, 50, 20), people(two, 50, 20), people(one, 50, 20)]);
    expect(through.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(await one.use({ id: link, maxClicks: 20 }, false)).toBe(false);
    // Known to be over: nobody is asked.
    const { asked } = shared;
    expect(one.use({ id: link, maxClicks: 20 }, true)).toBe(false);
    expect(shared.asked).toBe(asked);
  });

  it("raised after it was over takes as many as were added, those that were refused not counted", async () => {
    const shared = createShared();
    await using one = await open(shared, "one");
    await using two = await open(shared, "two");
    expect(await people(one, 3, 5)).toBe(3);
    expect((await people(two, 9, 5)) + (await people(one, 9, 5))).toBe(2);
    expect((await people(one, 9, 8)) + (await people(two, 9, 8))).toBe(3);
  });

  it("while the counts are away goes on from what each edge knows: its limit at most once in each", async () => {
    const shared = createShared();
    await using one = await open(shared, "one");
    await using two = await open(shared, "two");
    expect([await people(one, 3, 10), await people(two, 2, 10)]).toEqual([3, 2]);
    shared.away = true;
    // One knows of 3 clicks, two of 5.
    expect([await people(one, 20, 10), await people(two, 20, 10)]).toEqual([7, 5]);
  });

  it("tells the shared counts what it counted without them", async () => {
    const shared = createShared();
    await using limits = await open(shared);
    shared.away = true;
    expect(await people(limits, 2, 10)).toBe(2);
    now += 1_001;
    expect(await people(limits, 1, 10)).toBe(1);
    shared.away = false;
    // Not asked again at once, so that visitors do not wait for it each time.
    expect(await people(limits, 1, 10)).toBe(1);
    expect(shared.counts.get(link)).toBeUndefined();
    now += 1_001;
    // A visit that uses up nothing tells it too.
    expect(await limits.use({ id: link, maxClicks: 10 }, false)).toBe(true);
    expect(shared.counts.get(link)).toBe(4);
  });

  it("is not given back by shared counts that have lost their data", async () => {
    const shared = createShared();
    await using limits = await open(shared);
    expect(await people(limits, 4, 5)).toBe(4);
    shared.counts.clear();
    expect(await people(limits, 4, 5)).toBe(1);
  });
});
