import type { LinkCache } from "@sluice/link-store/link-cache.ts";
import type { Link } from "@sluice/link-store/link-store.ts";
import { StoredLink } from "@sluice/link-store/stored-link.ts";
import type { Log } from "@sluice/service/log.ts";

import { keepLines, readLines } from "./kept-lines.ts";

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

/** Seeds the cache with what the file holds, and writes it every `everyMs` and at closing. Never rejects. */
export async function openHotLinks(options: HotLinksOptions): Promise<HotLinks> {
  const { path, links, log } = options;
  const found: Link[] = await readLines(path, StoredLink, log);
  links.seed(found);

  const kept = keepLines({
    path,
    everyMs: options.everyMs,
    values: () => links.hottest(options.count),
    log,
  });
  return { found: found.length, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() };
}
