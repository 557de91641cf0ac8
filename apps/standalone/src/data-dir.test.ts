import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ServiceError } from "@sluice/service/service-error.ts";
import { tempDir, type TempDir } from "@sluice/testkit/temp-dir.ts";
import { afterEach, beforeEach, expect, test } from "vitest";

import { openDataDir } from "./data-dir.ts";

let temp: TempDir;
let parent: string;
beforeEach(async () => {
  temp = await tempDir();
  parent = temp.path;
});
afterEach(() => temp[Symbol.asyncDispose]());

/** What a refused start says. */
async function refusal(path: string): Promise<string> {
  const error: unknown = await openDataDir(path).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toHaveProperty("code", "config");
  return error instanceof Error ? error.message : "";
}

test("a directory is made, marked with its version, and can be opened again once it was closed", async () => {
  const path = join(parent, "deep", "data");
  for (let time = 1; time <= 2; time += 1) {
    await using dataDir = await openDataDir(path);
    expect(dataDir.path).toBe(path);
    expect(await readFile(join(path, "VERSION"), "utf8")).toBe("1\n");
  }
});

test("a second supervisor on one directory is refused, by whatever name it comes", async () => {
  await using first = await openDataDir(join(parent, "data"));
  await symlink(first.path, join(parent, "other-name"));
  expect(await refusal(join(parent, "other-name"))).toContain("another Sluice runs on the data directory");
});

test("a directory of a newer version is refused and left as it is", async () => {
  await writeFile(join(parent, "VERSION"), "2\n");
  expect(await refusal(parent)).toMatch(/is of version 2 and this Sluice knows version 1: .*SLUICE_DATA_DIR/);
  expect(await readFile(join(parent, "VERSION"), "utf8")).toBe("2\n");
});

test("a directory that cannot be written is refused with its name, the reason and the variable", async () => {
  const file = join(parent, "a-file");
  await writeFile(file, "");
  expect(await refusal(join(file, "data"))).toMatch(
    /a-file\/data cannot be written \(.*ENOTDIR.*\): set SLUICE_DATA_DIR/,
  );
});
