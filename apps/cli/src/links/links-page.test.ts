import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

test("docs/links.md names every option that a link may have", async () => {
  const text = await readFile(join(import.meta.dirname, "../../../../docs/links.md"), "utf8");
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, "../main.ts"),
    "link",
    "create",
    "--help",
  ]);
  const names = [...stdout.matchAll(/ --([a-z-]+)/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => name !== "help" && !text.includes(`--${name}`))).toEqual([]);
});
