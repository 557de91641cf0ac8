import { randomBytes } from "node:crypto";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { openTestStore } from "./testing/store.ts";
import { sql } from "./testing/raw-postgres.ts";

const day = 20_605;

describeWith("the keys of a day's visitors", openTestStore, (opened) => {
  const saltOf = (ofDay: number) => opened().store.visitorSalt(ofDay, randomBytes(32));

  test("are the same for all who ask, also for those who ask at once", async () => {
    const salts = await Promise.all(Array.from({ length: 8 }, () => saltOf(day)));
    expect(new Set(salts.map((salt) => Buffer.from(salt).toString("hex"))).size).toBe(1);
    expect(await saltOf(day)).toEqual(salts[0]);
    expect(await saltOf(day + 1)).not.toEqual(salts[0]);
  });

  test("are gone two days later", async () => {
    await saltOf(day);
    await saltOf(day + 1);
    await saltOf(day + 2);
    const left = await sql(opened().url, "SELECT day FROM visitor_salts ORDER BY day");
    expect(left).toEqual([{ day: day + 1 }, { day: day + 2 }]);
  });

  test("are 32 bytes or none", async () => {
    await expect(opened().store.visitorSalt(day + 9, randomBytes(31))).rejects.toMatchObject({
      code: "unavailable",
    });
  });
});
