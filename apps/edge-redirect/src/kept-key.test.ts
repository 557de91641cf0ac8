import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, it } from "vitest";

import { keepKey } from "./kept-key.ts";

it("a key is the same for all who share its file, and there is one where no file can be", async () => {
  await using dir = await tempDir();
  const path = join(dir.path, "key");
  const key = await keepKey(path, silentLog);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(await keepKey(path, silentLog)).toBe(key);
  await writeFile(path, key.slice(1));
  const said: string[] = [];
  const other = await keepKey(path, { ...silentLog, warn: (_, message) => void said.push(message) });
  expect(other).toMatch(/^[0-9a-f]{64}$/);
  expect(other).not.toBe(key);
  await rm(dir.path, { recursive: true });
  expect(await keepKey(path, silentLog)).toMatch(/^[0-9a-f]{64}$/);
  expect(said).toHaveLength(1);
});
