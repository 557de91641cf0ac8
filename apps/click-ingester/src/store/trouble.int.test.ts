import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { ask } from "../testing/click-counts.ts";
import { openRunningLoop } from "../testing/running-loop.ts";

describeWith("the running store loop", openRunningLoop, (loop) => {
  const counts = () => loop().counts();

  test("three bad rows among 10,000 cost two inserts for each and each halving, at most", async () => {
    await ask(loop().clickhouse, "ALTER TABLE click_events ADD CONSTRAINT test CHECK slug != 'refused'");
    const bad = [0, 4_711, 9_999];
    await loop().append(10_000, (index) => (bad.includes(index) ? { slug: "refused" } : {}));
    const letters = async () => (await loop().letters()).split("\n").length - 1;
    await expect.poll(letters, { timeout: 30_000 }).toBe(3);
    expect(await counts()).toEqual({ rows: 9_997, unique: 9_997, gaps: 2 });
    expect(loop().proxy.inserts.length).toBeLessThanOrEqual(
      1 + bad.length * 2 * Math.ceil(Math.log2(10_000)),
    );
  });

  test("a column that is missing is the operator's, its migration is named, and no click is set aside for it", async () => {
    const { clickhouse, store, said } = loop();
    // Nothing is to be rewritten, and merges do it.
    for (const statement of ["TRUNCATE TABLE click_events", "SYSTEM START MERGES click_events"])
      await ask(clickhouse, statement);
    await ask(clickhouse, "ALTER TABLE click_events RENAME COLUMN city TO city_away");
    await loop().append(100);
    await expect.poll(() => said.at(-1)).toMatch(/refuses.*\(code 16, .*run `sluice migrate`/);
    await expect(store.ping()).rejects.toThrow(
      "click_events has no column city: 0001_click_events.sql has to be applied",
    );
    await ask(clickhouse, "ALTER TABLE click_events RENAME COLUMN city_away TO city");
    await store.ping();
    await expect.poll(async () => (await counts()).unique, { timeout: 30_000 }).toBe(100);
    expect((await loop().letters()).split("\n")).toHaveLength(4);
    await expect.poll(() => loop().readiness()).toBe("ready");
  });
});
