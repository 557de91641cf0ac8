import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Link } from "@sluice/link-store/link-store.ts";
import { silentLog, type Log } from "@sluice/service/log.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openHotLinks } from "./hot-links.ts";

let dir = "";
let path = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "edge-hot-links-"));
  path = join(dir, "hot-links.ndjson");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function link(id: number): Link {
  const destination = `https://example.com/${id}`;
  return {
    id,
    workspaceId: 1,
    domain: "go.example.com",
    slug: `s${id}`,
    destination,
    status: 302,
    disabled: false,
  };
}
const links = Array.from({ length: 1200 }, (_, index) => link(index + 1));

/** Opens the file for a cache that holds these links; gives those it was seeded with. */
async function open(held: readonly Link[], log: Log = silentLog, everyMs = 3_600_000) {
  const seeded: Link[] = [];
  const cache = {
    hottest: (count: number) => held.slice(0, count),
    seed: (given: readonly Link[]) => void seeded.push(...given),
  };
  const hotLinks = await openHotLinks({ path, count: 1000, everyMs, links: cache, log });
  return { hotLinks, seeded };
}

describe("the hottest links", () => {
  it("are there again after a restart, as many as are kept", async () => {
    const { hotLinks } = await open([...links, { ...link(0), expiresAt: 1 }]);
    await hotLinks[Symbol.asyncDispose]();
    const { hotLinks: next, seeded } = await open([]);
    expect(seeded).toEqual(links.slice(0, 1000));
    expect(next.found).toBe(1000);
    expect(await readdir(dir)).toEqual(["hot-links.ndjson"]);
  });

  it("keep all that a link is, a password that nobody knows too", async () => {
    const whole: Link = {
      ...link(1),
      expiresAt: 1,
      passwordHash: "unreadable",
      rules: [{ countries: ["DE"], destination: "https://example.com/de" }],
      utm: { source: "mail" },
      noindex: true,
    };
    await (await open([whole])).hotLinks[Symbol.asyncDispose]();
    expect((await open([])).seeded).toEqual([whole]);
  });

  it("are kept though a process that saw no visitor closes after them", async () => {
    await (await open(links)).hotLinks[Symbol.asyncDispose]();
    await (await open([])).hotLinks[Symbol.asyncDispose]();
    expect((await open([])).seeded).toHaveLength(1000);
  });

  it("are written again and again, though there were none at first", async () => {
    const held: Link[] = [];
    const { hotLinks } = await open(held, silentLog, 5);
    for (const count of [0, 1, 2]) {
      held.splice(0, held.length, ...links.slice(0, count));
      await expect.poll(async () => (await open([])).seeded.length).toBe(count);
    }
    await hotLinks[Symbol.asyncDispose]();
  });

  it("are none when there is no file", async () => {
    expect((await open([])).hotLinks.found).toBe(0);
  });

  it.each([
    ["cut short", (whole: string) => whole.slice(0, -20)],
    ["not JSON", () => "nonsense"],
    [
      "with a destination that no header can hold",
      (whole: string) => whole.replace("https://e", "https://ë"),
    ],
    [
      "of a version that knows more of a link",
      (whole: string) => whole.replace('"disabled"', '"askFirst":true,"disabled"'),
    ],
    ["with a field missing", (whole: string) => whole.replace('"workspaceId":1,', "")],
  ])("are none, with a line in the log, when the file is %s", async (_, damage) => {
    await (await open(links)).hotLinks[Symbol.asyncDispose]();
    await writeFile(path, damage(await readFile(path, "utf8")));
    const said: string[] = [];
    const { hotLinks, seeded } = await open([], {
      ...silentLog,
      warn: (_fields, message) => void said.push(message),
    });
    expect(hotLinks.found).toBe(0);
    expect(seeded).toEqual([]);
    expect(said).toHaveLength(1);
  });

  it("that cannot be written stop nobody", async () => {
    const { hotLinks } = await open(links);
    await rm(dir, { recursive: true });
    await expect(hotLinks[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});
