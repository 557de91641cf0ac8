import { existsSync, readFileSync } from "node:fs";

/**
 * What a page in Markdown at that URL names and is not there, a text each: sources, which are named from the root, and
 * pages and headings, which are named from the page.
 */
export function missingFrom(page: URL, root: URL): string[] {
  const text = readFileSync(page, "utf8");
  const sources = [...text.matchAll(/`((?:apps|packages|e2e|bench|tools|infra)\/[\w./-]+\.\w+)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => !existsSync(new URL(path, root)));
  // What looks like a link in code is none.
  const prose = text.replaceAll(/^```[^]*?^```$|`[^`\n]+`/gm, "");
  const links = [...prose.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].filter(
    ([, path = "", anchor]) => {
      const to = path === "" ? page : new URL(path, page);
      if (!existsSync(to)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(to, "utf8")).has(anchor);
    },
  );
  return [...sources, ...links.map(([link]) => link.slice(2, -1))];
}

/** The names by which GitHub links to a page's headings: a repeated one is numbered. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}
