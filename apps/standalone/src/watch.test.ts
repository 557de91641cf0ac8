import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";

import { watchSources } from "./watch.ts";

test("a change deep in the sources of a package is noticed once, one of a test is not", async () => {
  await using root = await tempDir();
  const folder = join(root.path, "packages/some/src/deep");
  await mkdir(folder, { recursive: true });
  await mkdir(join(root.path, "apps"));
  let changes = 0;
  const watching = watchSources(root.path, () => (changes += 1));
  await writeFile(join(folder, "some.test.ts"), "");
  await writeFile(join(folder, "some.ts"), "first");
  await writeFile(join(folder, "some.ts"), "second");
  await expect.poll(() => changes).toBe(1);
  watching[Symbol.dispose]();
});
