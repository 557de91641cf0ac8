import { codesByClass } from "@sluice/click-store/testing/error-codes.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { describe, expect, test } from "vitest";
import { openRunningLoop } from "../testing/running-loop.ts";

const saying = (code: number) =>
  ({ kind: "error", body: `Code: ${code}. DB::Exception: Injected. (INJECTED)` }) as const;

describeWith("when ClickHouse answers the running store loop with", openRunningLoop, (loop) => {
  /** Appends clicks whose inserts meet the code so often; resolves when each is stored or set aside. */
  async function meet(code: number, { clicks, times }: { clicks: number; times: number }) {
    const { proxy, said } = loop();
    const counts = () => loop().counts();
    const letters = () => loop().letters();
    const before = { ...(await counts()), letters: (await letters()).split("\n").length };
    const inserts = proxy.inserts.length;
    said.splice(0);
    for (let time = 0; time < times; time += 1) proxy.faults.push(saying(code));
    await loop().append(clicks);
    const kept = async () =>
      (await counts()).unique - before.unique + (await letters()).split("\n").length - before.letters;
    await expect.poll(kept, { timeout: 30_000, interval: 50 }).toBe(clicks);
    const after = await counts();
    expect(after.rows).toBe(after.unique);
    expect(proxy.faults).toEqual([]);
    await expect.poll(() => loop().readiness()).toBe("ready");
    return { stored: after.unique - before.unique, inserts: proxy.inserts.length - inserts };
  }

  describe.each(codesByClass.retry)("code %i, which passes by itself,", (code) => {
    test("it is tried again, counted, and nothing is lost, doubled or set aside", async () => {
      expect((await meet(code, { clicks: 20, times: 1 })).stored).toBe(20);
      expect(loop().said).toEqual([expect.stringMatching(new RegExp(`tried again.*\\(code ${code}, `))]);
      expect(await loop().troubles("retry", code)).toBe(1);
    });
  });

  describe.each(codesByClass.operator)("code %i, which only a person can end,", (code) => {
    test("it is not ready at once, says what to do, goes on trying, and sets nothing aside", async () => {
      expect((await meet(code, { clicks: 20, times: 3 })).stored).toBe(20);
      expect(loop().said).toHaveLength(3);
      for (const text of loop().said)
        expect(text).toMatch(new RegExp(`the event log keeps the data \\(code ${code}, .*\\); .*: `));
      expect(await loop().troubles("operator", code)).toBe(3);
    });
  });

  describe.each(codesByClass.row)("code %i, which is about a value,", (code) => {
    test("the row is found, becomes a dead letter with the code, and the others are stored", async () => {
      // The whole, its first half, and that one's.
      expect(await meet(code, { clicks: 4, times: 3 })).toEqual({ stored: 3, inserts: 5 });
      expect(loop().said).toEqual([]);
      expect(await loop().letters()).toMatch(new RegExp(`refused-by-table\tcode ${code}: `));
    });
  });

  test("a code that nobody knows, it is tried six times and then taken for a row's fault", async () => {
    expect(await meet(4711, { clicks: 1, times: 6 })).toEqual({ stored: 0, inserts: 6 });
    expect(await loop().letters()).toMatch(/refused-by-table\tcode 4711: /);
    expect(await loop().troubles("retry", 4711)).toBe(5);
  });
});
