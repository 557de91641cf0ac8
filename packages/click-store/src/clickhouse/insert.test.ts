import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ClickStoreError, type Trouble } from "../click-store.ts";
import { toClickStoreError } from "./errors.ts";
import { insertOnce, type Target } from "./insert.ts";
import { createPatience } from "../patience.ts";
import { ruleOf } from "./errors.ts";

/** What one attempt may meet. */
type Fault =
  | "goes well"
  | "lost on the way"
  | "answer lost"
  /** Killed after the token was written and before the part was renamed into place. */
  | "token without part"
  /** One of the two partitions is stored, then memory is short. */
  | "half, then memory"
  | "memory"
  | "too many parts"
  | "no such table"
  | "unknown code";

const faults = fc.constantFrom<Fault>(
  "goes well",
  "lost on the way",
  "answer lost",
  "token without part",
  "half, then memory",
  "memory",
  "too many parts",
  "no such table",
  "unknown code",
);

const never = new AbortController().signal;

/**
 * A table of numbers as a MergeTree that is not replicated behaves: two partitions, odd and even; a token is noted
 * for each partition, before the rows; what a token was noted for is dropped and acknowledged. `bad` is refused.
 */
function createTable(script: readonly Fault[], bad?: number) {
  const stored: number[] = [];
  const sent: { token: string; rows: readonly number[]; fault: Fault | undefined }[] = [];
  const tokens = new Set<string>();
  const lookUps: number[] = [];
  const pending = [...script];

  function store(
    rows: readonly number[],
    token: string,
    partitions: readonly number[],
    withPart = true,
  ): void {
    for (const partition of partitions) {
      const part = rows.filter((row) => row % 2 === partition);
      const key = `${token}/${partition}`;
      if (part.length === 0 || tokens.has(key)) continue;
      tokens.add(key);
      if (withPart) stored.push(...part);
    }
  }

  const target: Target<number> = {
    async send(rows, token) {
      const fault = pending.shift();
      sent.push({ token, rows, fault });
      if (fault === "lost on the way") fail(0);
      if (fault === "too many parts") fail(252);
      if (fault === "no such table") fail(60);
      if (fault === "unknown code") fail(4711);
      if (fault === "memory") fail(241);
      if (bad !== undefined && rows.includes(bad)) fail(27);
      if (fault === "half, then memory") {
        store(rows, token, [1]);
        fail(241);
      }
      store(rows, token, [0, 1], fault !== "token without part");
      if (fault === "answer lost" || fault === "token without part") fail(0);
    },
    async missing(rows) {
      lookUps.push(rows.length);
      return rows.filter((row) => !stored.includes(row));
    },
  };
  return { stored, sent, lookUps, target };
}

function fail(code: number): never {
  throw toClickStoreError(new Error(code === 0 ? "ECONNRESET" : `Code: ${code}. DB::Exception`));
}

/** Without the waits. */
function patience(troubles: Trouble[] = []) {
  const options = { signal: never, onTrouble: (trouble: Trouble) => troubles.push(trouble) };
  return createPatience(options, ruleOf, async () => {});
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("an insert", () => {
  it("stores every row once, whatever happens to its attempts", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(faults, { maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        async (script, count) => {
          fc.pre(script.filter((fault) => fault === "unknown code").length <= 5);
          const table = createTable(script);
          await insertOnce(numbers(count), table.target, patience());
          expect(table.stored.toSorted((a, b) => a - b)).toEqual(numbers(count));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("never uses a token for other rows, and gives up neither rows nor token while an outcome is unknown", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(faults, { maxLength: 12 }), async (script) => {
        fc.pre(!script.includes("unknown code"));
        const table = createTable(script);
        await insertOnce(numbers(8), table.target, patience());
        const rowsOf = new Map(table.sent.map(({ token, rows }) => [token, rows]));
        for (const [index, { token, rows, fault }] of table.sent.entries()) {
          expect(rows).toEqual(rowsOf.get(token));
          const isOpen = ["lost on the way", "answer lost", "token without part"].includes(fault ?? "");
          const next = isOpen ? table.sent[index + 1]?.token : token;
          expect(next).toBe(token);
        }
      }),
    );
  });

  it("costs one statement when it is acknowledged at once", async () => {
    const table = createTable([]);
    await insertOnce(numbers(5), table.target, patience());
    expect(table.sent).toHaveLength(1);
    expect(table.lookUps).toEqual([]);
  });

  it("is halved when the server says that it is short of memory, down to a single row", async () => {
    const table = createTable(["memory", "memory", "memory", "memory"]);
    await insertOnce(numbers(4), table.target, patience());
    expect(table.sent.map(({ rows }) => rows.length)).toEqual([4, 2, 1, 1, 1, 1, 2]);
    expect(table.stored.toSorted((a, b) => a - b)).toEqual(numbers(4));
  });

  it("is refused with nothing stored when the table refuses a value, without a look-up", async () => {
    const table = createTable([], 3);
    const refused = insertOnce(numbers(5), table.target, patience());
    await expect(refused).rejects.toMatchObject({ class: "row", code: 27, partlyStored: false });
    expect(table.stored).toEqual([]);
    expect(table.lookUps).toEqual([]);
  });

  it("says so when a batch that had to be split is refused half-way", async () => {
    const table = createTable(["memory"], 8);
    const refused = insertOnce(numbers(8), table.target, patience());
    await expect(refused).rejects.toMatchObject({ class: "row", code: 27, partlyStored: true });
    expect(table.stored.length).toBeGreaterThan(0);
  });

  it("tries an unknown code five times more before it blames a row", async () => {
    const table = createTable(Array.from({ length: 20 }, () => "unknown code" as const));
    const troubles: Trouble[] = [];
    const refused = insertOnce(numbers(2), table.target, patience(troubles));
    await expect(refused).rejects.toMatchObject({ class: "row", code: 4711, partlyStored: false });
    expect(table.sent).toHaveLength(6);
    expect(troubles.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
  });

  it("reports each failure, and goes on for as long as the operator takes", async () => {
    const table = createTable(Array.from({ length: 40 }, () => "no such table" as const));
    const troubles: Trouble[] = [];
    await insertOnce(numbers(2), table.target, patience(troubles));
    expect(troubles).toHaveLength(40);
    expect(troubles[39]).toMatchObject({ class: "operator", code: 60, attempt: 40 });
    expect(table.stored).toHaveLength(2);
  });

  it("rejects with the signal's reason while it waits", async () => {
    const controller = new AbortController();
    const reason = new Error("the batch is lost");
    const options = { signal: controller.signal, onTrouble: () => controller.abort(reason) };
    const table = createTable(["no such table"]);
    await expect(insertOnce(numbers(2), table.target, createPatience(options, ruleOf))).rejects.toBe(reason);
  });

  it("passes on what is not the store's error", async () => {
    const bug = new TypeError("a bug");
    const target: Target<number> = { ...createTable([]).target, send: () => Promise.reject(bug) };
    await expect(insertOnce(numbers(2), target, patience())).rejects.toBe(bug);
    expect(bug).not.toBeInstanceOf(ClickStoreError);
  });
});
