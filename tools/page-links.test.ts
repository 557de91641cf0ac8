import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import { tempDir } from "../packages/testkit/src/temp-dir.ts";
import { anchorsOf, missingFrom } from "./page-links.ts";

test("a link to a page, a heading or a source that is not there is found", async () => {
  await using folder = await tempDir();
  const root = pathToFileURL(`${folder.path}/`);
  writeFileSync(join(folder.path, "other.md"), "# Other\n\n## What `it` does, here\n");
  const links = "[a](other.md) [b](other.md#what-it-does-here) [c](#page) [d](https://example.com/#x)";
  writeFileSync(join(folder.path, "page.md"), `# Page\n\n${links} \`[e](none.md)\`\n`);
  expect(missingFrom(new URL("page.md", root), root)).toEqual([]);
  const broken = "[a](none.md) [b](other.md#what-it-did) [c](#pages) `apps/none.ts`";
  writeFileSync(join(folder.path, "page.md"), `# Page\n\n${broken}\n`);
  expect(missingFrom(new URL("page.md", root), root)).toEqual([
    "apps/none.ts",
    "none.md",
    "other.md#what-it-did",
    "#pages",
  ]);
});

test("headings are named as GitHub names them", () => {
  const page = "# One & two\n\n## A's [link](x.md)\n\n```sh\n# no heading\n```\n\n## Twice\n\n## Twice\n";
  expect([...anchorsOf(page)]).toEqual(["one--two", "as-link", "twice", "twice-1"]);
});
