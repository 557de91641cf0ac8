import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

const root = new URL("../../../", import.meta.url);

/** All sources that an ingester can load, whichever log and store it is given. */
function sourcesOf(entry: URL): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  const next = [entry];
  for (let url = next.pop(); url !== undefined; url = next.pop()) {
    if (sources.has(url.href)) continue;
    const text = readFileSync(url, "utf8");
    sources.set(url.href, text);
    for (const [, name = ""] of text.matchAll(/(?:from|import|import\()\s*"(\.\.?\/[^"]+|@sluice\/[^"]+)"/g))
      next.push(name.startsWith(".") ? new URL(name, url) : exported(name));
  }
  return sources;
}

const Manifest = z.object({ exports: z.record(z.string(), z.string()) });

function exported(name: string): URL {
  const [, folder = "", file = ""] = /^@sluice\/([^/]+)\/(.+)$/.exec(name) ?? [];
  const packageUrl = new URL(`packages/${folder}/`, root);
  const manifest = Manifest.parse(JSON.parse(readFileSync(new URL("package.json", packageUrl), "utf8")));
  const path = manifest.exports[`./${file}`];
  if (path === undefined) throw new Error(`${name} is not exported`);
  return new URL(path, packageUrl);
}

test("every metric that an ingester can have is in the operator's table, and no other", () => {
  const sources = sourcesOf(new URL("main.ts", import.meta.url));
  const made = [...sources.values()].flatMap((text) =>
    [...text.matchAll(/\.(?:counter|gauge|histogram)\(\s*"(\w+)"/g)].map(([, name]) => name),
  );
  expect(made).toContain("event_log_pending_records");
  const page = readFileSync(new URL("docs/operations.md", root), "utf8");
  const [, table = ""] = /^## Metrics of the ingester$([^]*?)(?=^## |(?![^]))/m.exec(page) ?? [];
  const told = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  expect(told).toHaveLength(new Set(told).size);
  expect(new Set(told)).toEqual(new Set(made));
});
