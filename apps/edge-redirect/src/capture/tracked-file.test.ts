import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, it } from "vitest";

import { trackFile } from "./tracked-file.ts";

async function tracked() {
  const dir = await tempDir();
  const path = join(dir.path, "file");
  await writeFile(path, "old");
  const trial = { path, told: 0, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
  const look = await trackFile(path, async () => void (trial.told += 1));
  /** How often it has been told of a change by then. */
  const looked = async (times: number): Promise<number> => {
    for (let time = 0; time < times; time += 1) await look();
    return trial.told;
  };
  return Object.assign(trial, { looked });
}

it("a file that stays is not told of", async () => {
  await using file = await tracked();
  expect(await file.looked(5)).toBe(0);
});

it("a file that is written is told of once, and not before it stays as it is", async () => {
  await using file = await tracked();
  await using handle = await open(file.path, "w");
  for (const part of ["a", "b", "c"]) {
    await handle.write(part);
    expect(await file.looked(1)).toBe(0);
  }
  expect(await file.looked(1)).toBe(1);
  expect(await file.looked(5)).toBe(1);
});

it("a file that takes its place is told of, also with the same size and time", async () => {
  await using file = await tracked();
  await writeFile(`${file.path}.new`, "new");
  await rename(`${file.path}.new`, file.path);
  expect(await file.looked(5)).toBe(1);
});

it("a file that goes is told of once, and again when it is back", async () => {
  await using file = await tracked();
  await rm(file.path);
  expect(await file.looked(5)).toBe(1);
  await writeFile(file.path, "back");
  expect(await file.looked(5)).toBe(2);
});
