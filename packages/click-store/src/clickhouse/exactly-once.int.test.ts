import { describeWith } from "@sluice/testkit/describe-with.ts";
import { describe, expect, it } from "vitest";
import type { ClickRow } from "../click-store.ts";
import type { Fault } from "./testing/fault-proxy.ts";
import { openWorldOnAnyServer, type World } from "./testing/world.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { clicksOf } from "./testing/rows.ts";

/** Short, so that a test can wait for a client that gives up. */
const open = () => openWorldOnAnyServer({ serverMs: 1_000, clientMs: 1_500 });

describeWith("a batch is stored once", open, (world) => {
  const insertUnder = (...faults: Fault[]) => insertInto(world(), clicksOf(uuidv7(), 1_000), faults);

  it("when the answer is lost", async () => {
    const { sent, found } = await insertUnder({ kind: "answer lost" }, { kind: "answer lost" });
    expect(found).toEqual(once);
    expect(new Set(sent.map(({ token }) => token)).size).toBe(1);
  });

  it("when the connection breaks in the middle of the body", async () => {
    expect((await insertUnder({ kind: "cut off" }, { kind: "cut off" })).found).toEqual(once);
  });

  it("when the server is away for a while", async () => {
    expect(
      (await insertUnder(...Array.from({ length: 5 }, () => ({ kind: "refused" }) as const))).found,
    ).toEqual(once);
  });

  it("when an attempt that was given up arrives after its retry", async () => {
    const { run } = await insertUnder({ kind: "late", afterMs: 2_000 });
    await world().proxy.quiet();
    expect(await world().count(run)).toEqual(once);
  });

  it("when an attempt that was given up is still running while its retry asks for smaller batches", async () => {
    const body = "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)";
    // Every month is a part with files of its own: the server takes seconds.
    const clicks = months(uuidv7(), 1_000);
    await using own = await openWorldOnAnyServer();
    const { run } = await insertInto(own, clicks, [{ kind: "given up" }, { kind: "error", body }]);
    await own.proxy.quiet();
    expect(await own.count(run)).toEqual(once);
  });

  it("when the server has carried it out, and its answer never comes", async () => {
    expect((await insertUnder({ kind: "stored, and silence" })).found).toEqual(once);
  });

  it("when the server never answers", async () => {
    expect((await insertUnder({ kind: "silence" })).found).toEqual(once);
  });

  describe("although the server has carried it out and says", () => {
    it.each([
      "Code: 319. DB::Exception: Unknown status of insert. (UNKNOWN_STATUS_OF_INSERT)",
      "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)",
      "Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)",
      "Code: 4711. DB::Exception: Something new. (SOMETHING_NEW)",
      "<html>502 Bad Gateway</html>",
    ])("%s", async (body) => {
      expect((await insertUnder({ kind: "stored, and an error", body })).found).toEqual(once);
    });
  });

  describe("when the server has not, and says", () => {
    it.each([
      "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)",
      "Code: 252. DB::Exception: Too many parts (3000). (TOO_MANY_PARTS)",
      "Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)",
      "Code: 243. DB::Exception: Not enough space. (NOT_ENOUGH_SPACE)",
      "Code: 999. DB::Exception: Session expired. (KEEPER_EXCEPTION)",
      "Code: 4711. DB::Exception: Something new. (SOMETHING_NEW)",
      "",
    ])("%s", async (body) => {
      expect((await insertUnder({ kind: "error", body })).found).toEqual(once);
    });
  });

  it("in two halves when the server is short of memory", async () => {
    const body = "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)";
    const { sent, found } = await insertUnder({ kind: "error", body });
    expect(found).toEqual(once);
    const [whole = 0, ...halves] = sent.map(({ bytes }) => bytes);
    expect(halves).toHaveLength(2);
    for (const half of halves) expect(half / whole).toBeCloseTo(0.5, 1);
    expect(new Set(sent.map(({ token }) => token)).size).toBe(3);
  });
});

const once = { rows: 1_000, events: 1_000, visible: 1_000 };

/** Inserts clicks of one run by attempts that meet these faults; resolves to what became of them. */
async function insertInto(
  { store, proxy, options, count }: World,
  rows: readonly ClickRow[],
  faults: readonly Fault[],
) {
  const run = rows[0]?.edge_run ?? "";
  const before = proxy.inserts.length;
  proxy.faults.push(...faults);
  await store.insertClicks(rows, options);
  expect(proxy.faults).toEqual([]);
  return { run, found: await count(run), sent: proxy.inserts.slice(before) };
}

/** Clicks of one run, each in the month after the last, and from the beginning again after 400. */
function months(run: string, count: number): ClickRow[] {
  return Array.from({ length: count }, (_, index) =>
    clicksOf(run, 1, { fromSeq: index + 1, ts: 1_000_000_000_000 + (index % 400) * 31 * 86_400_000 }),
  ).flat();
}
