import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it } from "vitest";

import { writeChunks } from "./spool.ts";

it("rows are written as they are up to the limit, and refused above it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-spool-"));
  await writeChunks(join(directory, "a"), chunks(), 3);
  expect([...readFileSync(join(directory, "a"))]).toEqual([0, 255, 10]);
  await expect(writeChunks(join(directory, "b"), chunks(), 2)).rejects.toMatchObject({ code: 307 });
  rmSync(directory, { recursive: true });
});

async function* chunks(): AsyncGenerator<Buffer> {
  yield Buffer.from([0, 255]);
  yield Buffer.from([10]);
}
