import { open, readFile, rename, rm } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";

import type { LinkCache } from "@sluice/link-store/link-cache.ts";
import type { Link } from "@sluice/link-store/link-store.ts";
import { StoredLink } from "@sluice/link-store/stored-link.ts";
import type { Log } from "@sluice/service/log.ts";

/**
 * Keeps the links that visitors ask for most in a file, one a line, so that an edge which starts while Postgres is
 * away still redirects. Several processes may share the file: the last one to write wins, and any of theirs will do.
 */
export interface HotLinks extends AsyncDisposable {
  /** How many the file held at the start. */
  readonly found: number;
}

export interface HotLinksOptions {
  readonly path: string;
  readonly count: number;
  readonly everyMs: number;
  readonly links: Pick<LinkCache, "hottest" | "seed">;
  readonly log: Log;
}

/** Encoding so many at a time keeps the visitors' answers under a millisecond late. */
const linesPerTurn = 500;

/** Seeds the cache with what the file holds, and writes it every `everyMs` and at closing. Never rejects. */
export async function openHotLinks(options: HotLinksOptions): Promise<HotLinks> {
  const { path, links, log } = options;
  const found = await readLinks(path, log);
  links.seed(found);

  let saving: Promise<void> | undefined;
  async function save(): Promise<void> {
    try {
      const hottest = links.hottest(options.count);
      // An edge that has seen nobody since its start knows no better than the file.
      if (hottest.length > 0) await writeLinks(path, hottest);
    } catch (error) {
      log.warn({ error, path }, "the hottest links could not be written");
    }
  }
  const timer = setInterval(() => {
    saving ??= save().finally(() => (saving = undefined));
  }, options.everyMs).unref();
  return {
    found: found.length,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await saving;
      await save();
    },
  };
}

/** Nothing when there is no file; nothing, and a line in the log, when any of it cannot be read. */
async function readLinks(path: string, log: Log): Promise<Link[]> {
  try {
    const lines = (await readFile(path, "utf8")).split("\n");
    return lines.filter((line) => line !== "").map((line) => StoredLink.parse(JSON.parse(line)));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) {
      log.warn({ path, error }, "the file of hottest links is damaged: starting without");
    }
    return [];
  }
}

/** Whole or not at all, also when the power fails. */
async function writeLinks(path: string, links: readonly Link[]): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    await using file = await open(draft, "w", 0o640);
    for (let from = 0; from < links.length; from += linesPerTurn) {
      const lines = links.slice(from, from + linesPerTurn).map((link) => `${JSON.stringify(link)}\n`);
      await file.writeFile(lines.join(""));
      await setImmediate();
    }
    await file.datasync();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
