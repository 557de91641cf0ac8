import { expect, test } from "vitest";
import { createResolver } from "./resolver.ts";

test("links that are asked for in one turn are looked up by one statement, and at most a hundred by each", async () => {
  const asked: unknown[] = [];
  async function query(_text: string, values: readonly unknown[]): Promise<unknown[]> {
    asked.push(values[1]);
    return [];
  }
  const resolve = createResolver(query, () => {});
  const slugs = Array.from({ length: 250 }, (_, index) => `s${index}`);
  const found = await Promise.all(slugs.map((slug) => resolve("a.example", slug)));
  expect(found).toEqual(slugs.map(() => undefined));
  expect(asked).toEqual([slugs.slice(0, 100), slugs.slice(100, 200), slugs.slice(200)]);
  await resolve("a.example", "s0");
  expect(asked).toHaveLength(4);
});
