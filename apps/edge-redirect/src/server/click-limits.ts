import type { Link } from "@sluice/link-store/link-store.ts";
import type { Log } from "@sluice/service/log.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import { LRUCache } from "lru-cache";
import { z } from "zod";

import { keepLines, readLines } from "../kept-lines.ts";
import { onceAMinute } from "../once-a-minute.ts";

/** Clicks of limited links, counted for all edges. */
export interface SharedCounts {
  /**
   * Adds to a link's clicks and gives what they are then. They may be forgotten long after `expiresAt`, the link's end,
   * in milliseconds since 1970. Rejects when it cannot say.
   */
  countClicks(linkId: number, clicks: number, expiresAt?: number): Promise<number>;
  /** Connects anew if need be. */
  ping(): Promise<void>;
}

/** What a limit has to know of its link. */
export type LimitedLink = Pick<Link, "id" | "expiresAt"> & { readonly maxClicks: number };

/** Keeps links to their number of clicks. */
export interface ClickLimits extends AsyncDisposable {
  /**
   * Whether one more visitor may follow the link; a person uses up a click by this. At once where counts are not shared
   * and where the link is known to be over. Never rejects.
   */
  readonly use: (link: LimitedLink, isPerson: boolean) => boolean | Promise<boolean>;
}

export interface ClickLimitsOptions {
  /** The file, beside the journal, from which a restart goes on; shared by the processes of this edge. */
  readonly path: string;
  readonly shared: SharedCounts | undefined;
  readonly log: Log;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

interface Count {
  /** All clicks of the link that this process knows of. It only grows. */
  known: number;
  /** What the shared count still lacks: counted here while it was away. Below zero what was taken there in vain. */
  unsent: number;
}

/** Some 100 bytes each; the least recently used is forgotten, and without shared counts starts from nothing. */
const maxCounts = 10_000;
/** What a killed process may forget. */
const saveEveryMs = 1_000;
/** A visitor waits for it. */
const limitMs = 50;
/** After a failure the shared counts are left alone for so long. */
const pauseMs = 1_000;

const Line = z.object({ link: z.int().min(1), clicks: z.int().min(0) });

/** Goes on from the file. Never rejects. */
export async function openClickLimits(options: ClickLimitsOptions): Promise<ClickLimits> {
  const { path, log } = options;
  const counts = new LRUCache<number, Count>({ max: maxCounts });
  const counter = createCounter(counts, options);
  let written = 0;

  /** Of several processes that share the file none takes away what another knows. */
  async function values(): Promise<readonly z.output<typeof Line>[]> {
    const now = counter.counted();
    if (now === written) return [];
    written = now;
    const all = new Map((await readLines(path, Line, log)).map(({ link, clicks }) => [link, clicks]));
    for (const [link, { known }] of counts.entries()) all.set(link, Math.max(known, all.get(link) ?? 0));
    return [...all].slice(-maxCounts).map(([link, clicks]) => ({ link, clicks }));
  }

  for (const { link, clicks } of await readLines(path, Line, log)) {
    counts.set(link, { known: clicks, unsent: 0 });
  }
  const kept = keepLines({ path, everyMs: saveEveryMs, values, log });
  return { use: counter.use, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() };
}

/**
 * With shared counts a link takes exactly its clicks, whichever edges they come to. While those are away, and where
 * there are none, each process goes on from what it knows: a link may then take up to its limit once in each process.
 * A click whose answer was late may count twice, one a second at most.
 */
function createCounter(
  counts: LRUCache<number, Count>,
  { shared, log, now = () => performance.now() }: ClickLimitsOptions,
): Pick<ClickLimits, "use"> & { /** Goes up with each click. */ readonly counted: () => number } {
  const say = onceAMinute((error) =>
    log.warn({ error }, "clicks of limited links are counted by this edge alone"),
  );
  let quietUntil = 0;
  let counted = 0;

  function get(linkId: number): Count {
    const found = counts.get(linkId);
    if (found !== undefined) return found;
    const made = { known: 0, unsent: 0 };
    counts.set(linkId, made);
    return made;
  }

  function useHere(count: Count, maxClicks: number, own: number): boolean {
    if (count.known >= maxClicks) return false;
    count.known += own;
    count.unsent += own;
    return true;
  }

  async function useShared(
    others: SharedCounts,
    { id, maxClicks, expiresAt }: LimitedLink,
    own: number,
  ): Promise<boolean> {
    const count = get(id);
    const floor = count.known + own;
    const owed = count.unsent;
    count.unsent = 0;
    try {
      // A Redis that has lost its data does not give the clicks back.
      const counting = others.countClicks(id, owed + own, expiresAt);
      const total = Math.max(await withinMs(limitMs, counting), floor);
      count.known = Math.max(count.known, Math.min(total, maxClicks));
      const isIn = own > 0 ? total <= maxClicks : total < maxClicks;
      if (!isIn) count.unsent -= own;
      return isIn;
    } catch (error) {
      say(error);
      quietUntil = now() + pauseMs;
      others.ping().catch(() => {});
      count.unsent += owed;
      return useHere(count, maxClicks, own);
    }
  }

  return {
    counted: () => counted,
    use(link, isPerson) {
      const { id, maxClicks } = link;
      const count = get(id);
      if (count.known >= maxClicks) return false;
      const own = isPerson ? 1 : 0;
      counted += own;
      return shared === undefined || now() < quietUntil
        ? useHere(count, maxClicks, own)
        : useShared(shared, link, own);
    },
  };
}
