import { silentLog } from "@sluice/service/log.ts";
import { describe, expect, test } from "vitest";
import { createLevel } from "./level.ts";

function setUp() {
  const clock = { now: 0 };
  const level = createLevel({
    name: "postgres",
    limitMs: 20,
    probe: async () => {},
    log: silentLog,
    count: { open() {} },
    now: () => clock.now,
    random: () => 0.5,
  });
  return { level, clock };
}
const never = () => new Promise<void>(() => {});
const late = { name: "TimeLimitError" };

describe("a level", () => {
  test("is not taken for away over one question that is late while others are answered", async () => {
    const { level, clock } = setUp();
    const slow = level.ask(never);
    clock.now += 1;
    expect(await level.ask(async () => 1)).toBe(1);
    await expect(slow).rejects.toMatchObject(late);
    expect(level.mayAsk()).toBe(true);
  });

  test("is taken for away over one that is late when nothing was answered since it was asked", async () => {
    const { level, clock } = setUp();
    expect(await level.ask(async () => 1)).toBe(1);
    clock.now += 1;
    await expect(level.ask(never)).rejects.toMatchObject(late);
    expect(level.mayAsk()).toBe(false);
    await expect(level.ask(async () => 1)).rejects.toThrow("postgres is not asked now");
  });
});
