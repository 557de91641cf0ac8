import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { measured } from "./measured.ts";
import { type Demand, plan } from "./plan.ts";

const tools = join(import.meta.dirname, "..");
const page = readFileSync(join(tools, "../docs/capacity.md"), "utf8");

const demand: Demand = {
  clicksPerDay: 8_640_000,
  peak: 5,
  edges: 3,
  outageHours: 24,
  catchUpHours: 4,
  kafkaHours: 72,
  kafkaCopies: 3,
  clickHouseDays: 100,
  clickHouseCopies: 2,
  deliveriesPercent: 0,
};

test("a small installation is two of each, and its disks are what was measured times what they hold", () => {
  const small = plan(demand);
  expect(small.clicksPerSecond).toEqual({ mean: 100, peak: 500 });
  expect([small.edgeCores, small.ingesters, small.dispatchers, small.partitions]).toEqual([2, 2, 0, 24]);
  // A day's clicks on the two edges that are left; three days of them, thrice, and as much again.
  expect(small.journal.bytesPerEdge).toBe(4_320_000 * 945);
  expect(small.journal.volumeBytesPerEdge).toBeGreaterThan(4_320_000 * 945 + 512 * 1024 ** 2);
  expect(small.kafkaBytes).toBe(3 * 8_640_000 * 218 * 3 * 2);
  expect(small.clickHouse).toEqual({ rowsPerDay: 8_640_000, bytes: 100 * 8_640_000 * 98 * 2 * 2 });
  expect(small.warnings).toEqual([]);
});

/** So many clicks fit into an edge's journal. */
const journalOf = (outageHours: number) =>
  plan({ ...demand, outageHours }).journal.bytesPerEdge / measured.journalBytes;

test("a short outage falls on the busiest hours, and no day has more clicks than it has", () => {
  expect(journalOf(1)).toBe((500 * 3_600) / 2);
  expect(journalOf(6)).toBe(8_640_000 / 2);
  expect(journalOf(30)).toBe((2 * 8_640_000) / 2);
});

test("ingesters have time for what comes beside what waits, and a core is never full", () => {
  const large = plan({ ...demand, clicksPerDay: 864_000_000, outageHours: 4, catchUpHours: 2 });
  // 50,000 a second, and four such hours within two; of 27,000 a second 60 %.
  expect(large.ingesters).toBe(Math.ceil((50_000 + 100_000) / 16_200));
  expect(large.edgeCores).toBe(Math.ceil(50_000 / 19_800));
  expect(large.partitions).toBe(30);
});

test("more of anything asked for never needs less of anything", () => {
  const numbers = (value: object): number[] =>
    Object.values(value).flatMap((each: unknown) =>
      typeof each === "number"
        ? [each]
        : typeof each === "object" && each !== null && !Array.isArray(each)
          ? numbers(each)
          : [],
    );
  const before = numbers(plan(demand));
  for (const more of [
    "clicksPerDay",
    "peak",
    "outageHours",
    "kafkaHours",
    "clickHouseDays",
    "deliveriesPercent",
  ] as const) {
    const after = numbers(plan({ ...demand, [more]: demand[more] * 1_000 + 50 }));
    expect(after.every((each, index) => each >= (before[index] ?? 0))).toBe(true);
    expect(after).not.toEqual(before);
  }
});

test("what does not hold is said", () => {
  const all = plan({ ...demand, edges: 1, kafkaHours: 27, deliveriesPercent: 3_500 });
  expect(all.dispatchers).toBe(Math.ceil(17_500 / 2_880));
  expect(all.warnings).toEqual([
    expect.stringContaining("one edge"),
    expect.stringContaining("Kafka forgets"),
    expect.stringContaining("parked"),
  ]);
});

function run(args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [join(tools, "capacity.ts"), ...args], (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
}

test("the page has the figures that are reckoned with, and prints what the script does", async () => {
  for (const figure of Object.values(measured))
    expect(page).toContain(`| ${figure.toLocaleString("en-US")} `);
  const [, args = ""] = /^node tools\/capacity\.ts (.*)$/m.exec(page) ?? [];
  const { out } = await run(args.split(" "));
  expect(page).toContain(`\`\`\`text\n${out}\`\`\``);
});

test.for([
  [[], "--clicks-per-day takes a number from 1 on, got nothing"],
  [["--clicks-per-day=many"], '--clicks-per-day takes a number from 1 on, got "many"'],
  [["--clicks-per-day=1000", "--edges=0"], '--edges takes a number from 1 on, got "0"'],
  [["--clicks=1000"], "Unknown option '--clicks'"],
] as const)("%s is refused with what it takes", async ([args, says]) => {
  const { code, err } = await run(args);
  expect(code).toBe(64);
  expect(err).toContain(`capacity: ${says}`);
  expect(err).toContain("how long Kafka keeps clicks");
});
