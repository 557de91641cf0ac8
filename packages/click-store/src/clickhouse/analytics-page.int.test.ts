import { readFile } from "node:fs/promises";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { uuidv7 } from "../testing/clicks.ts";
import { createRollup } from "./rollup/open.ts";
import { connect } from "./connection.ts";
import { clicksOf } from "./testing/rows.ts";
import { never, openWorldOnAnyServer } from "./testing/world.ts";

const page = await readFile(new URL("../../../../docs/analytics.md", import.meta.url), "utf8");
const queries = [...page.matchAll(/^### (.+)\n\n```sql\n([^]+?)```/gm)].map(([, title = "", sql = ""]) => ({
  title,
  sql,
}));

describeWith(
  "docs/analytics.md",
  () => openWorldOnAnyServer(),
  (world) => {
    test("has ten queries, each of which finds something among ordinary clicks", async () => {
      const { store, options, url, query } = world();
      const ts = Date.now();
      const campaign = { source: "newsletter", medium: "", campaign: "spring", term: "", content: "" };
      const of = (changes: Parameters<typeof clicksOf>[2]) => clicksOf(uuidv7(), 3, { ts, ...changes });
      const clicks = [...of({ utm: campaign, click_ids: { gclid: "abc" } }), ...of({ bot: 6 })];
      await store.insertClicks(clicks, options);
      await using connection = connect(url);
      await createRollup(connection, 0).recount({ limit: 10, skip: 0 }, never);
      const found = await Promise.all(
        queries.map(async ({ title, sql }) => ({ title, lines: (await query(sql)).length })),
      );
      expect(found).toHaveLength(10);
      expect(found.filter(({ lines }) => lines === 0)).toEqual([]);
    });
  },
);
