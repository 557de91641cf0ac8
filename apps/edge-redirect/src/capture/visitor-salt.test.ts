import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { silentLog } from "@sluice/service/log.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { dayOf, openVisitorSalt } from "./visitor-salt.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "edge-salt-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const monday = dayOf(Date.UTC(2026, 5, 1));

describe("the salt of visitors", () => {
  it("is the same for every process of an edge, and after a restart", () => {
    const first = openVisitorSalt(dir, silentLog)(monday);
    expect(openVisitorSalt(dir, silentLog)(monday)).toEqual(first);
    expect(first).toHaveLength(32);
  });

  it("is another one each day, and yesterday's is gone", async () => {
    const salt = openVisitorSalt(dir, silentLog);
    const yesterday = salt(monday);
    expect(salt(monday + 1)).not.toEqual(yesterday);
    expect(await readdir(dir)).toEqual(["visitor-salt.2026-06-02"]);
  });

  it("stays when the clock is set back a day, because the earlier one is gone", () => {
    const salt = openVisitorSalt(dir, silentLog);
    const today = salt(monday + 1);
    expect(salt(monday)).toEqual(today);
  });

  it("is random and there even where it cannot be kept", () => {
    const missing = join(dir, "missing");
    const salt = openVisitorSalt(missing, silentLog);
    expect(salt(monday)).toEqual(salt(monday));
    expect(salt(monday)).not.toEqual(openVisitorSalt(missing, silentLog)(monday));
  });

  it("is a new one where the file was cut short", async () => {
    await writeFile(join(dir, "visitor-salt.2026-06-01"), "short");
    expect(openVisitorSalt(dir, silentLog)(monday)).toHaveLength(32);
  });
});
