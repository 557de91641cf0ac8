import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { silentLog } from "@sluice/service/log.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { createLocalSalts } from "./local-salts.ts";
import { dayOf } from "./visitor-salt.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "edge-salt-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const monday = dayOf(Date.UTC(2026, 5, 1));

describe("an edge's own salt of visitors", () => {
  it("is the same for every process of an edge, and after a restart", () => {
    const first = createLocalSalts(dir, silentLog).of(monday);
    expect(createLocalSalts(dir, silentLog).of(monday)).toEqual(first);
    expect(first).toHaveLength(32);
  });

  it("is another one each day, and yesterday's is deleted when that is asked for", async () => {
    const salts = createLocalSalts(dir, silentLog);
    expect(salts.of(monday + 1)).not.toEqual(salts.of(monday));
    salts.prune(monday + 1);
    expect(await readdir(dir)).toEqual(["visitor-salt.2026-06-02"]);
  });

  it("is random and there even where it cannot be kept", () => {
    const salts = createLocalSalts(join(dir, "missing"), silentLog);
    expect(salts.of(monday)).toHaveLength(32);
    expect(salts.of(monday)).not.toEqual(salts.of(monday));
    salts.prune(monday);
  });

  it("is a new one where the file was cut short", async () => {
    await writeFile(join(dir, "visitor-salt.2026-06-01"), "short");
    expect(createLocalSalts(dir, silentLog).of(monday)).toHaveLength(32);
  });
});
