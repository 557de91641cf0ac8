import { readFileSync } from "node:fs";
import { z } from "zod";

// What an app can tell Prometheus, by its sources; and what the operator's page says of it.

const root = new URL("../../../", import.meta.url);

/** The metrics that an app can have, whichever adapters it is given, by the sources that its `main.ts` can load. */
export function metricsMadeBy(main: URL): string[] {
  return [...sourcesOf(main).values()].flatMap((text) =>
    [...text.matchAll(/\.(?:counter|gauge|histogram)\(\s*"(\w+)"/g)].map(([, name = ""]) => name),
  );
}

/** The metrics in the tables below that heading of docs/operations.md, in their order. */
export function metricsToldBelow(heading: string): string[] {
  const page = readFileSync(new URL("docs/operations.md", root), "utf8");
  const [, tables = ""] = new RegExp(`^## ${heading}$([^]*?)(?=^## |(?![^]))`, "m").exec(page) ?? [];
  return [...tables.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
}

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
