import { readFile } from "node:fs/promises";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { withTrial } from "../contract/trial.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { sql } from "./testing/sql.ts";
import { openWorld } from "./testing/world.ts";

const page = await readFile(new URL("../../../../docs/clicks-in-postgres.md", import.meta.url), "utf8");
const queries = [...page.matchAll(/^### (.+)\n\n```sql\n([^]+?)```/gm)].map(([, title = "", text = ""]) => ({
  title,
  text,
}));

describeWith("docs/clicks-in-postgres.md", openWorld, (world) => {
  test("has nine queries, each of which finds something among ordinary clicks", async () => {
    await withTrial(world(), async ({ store, options, rowsOf }) => {
      const ts = Date.now();
      const campaign = { source: "newsletter", medium: "", campaign: "spring", term: "", content: "" };
      const people = rowsOf(uuidv7(), 3, { ts, utm: campaign, click_ids: { gclid: "abc" } });
      await store.insertClicks([...people, ...rowsOf(uuidv7(), 3, { ts, bot: 6 })], options);
      const found: { title: string; rows: number }[] = [];
      for (const { title, text } of queries) {
        found.push({ title, rows: (await sql(world().url, text)).length });
      }
      expect(found).toHaveLength(9);
      expect(found.filter(({ rows }) => rows === 0)).toEqual([]);
    });
  });
});
