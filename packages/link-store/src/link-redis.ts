import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@redis/client";
import { z } from "zod";
import type { Link } from "./link-store.ts";
import { StoredLink } from "./stored-link.ts";

/** A link as somebody read it from Postgres, with all that was committed below `position` before their eyes. */
export interface SharedLink {
  readonly link: Link;
  readonly position: number;
}

/**
 * Links that edges have read, for each other, and the clicks of those with a limit. Whoever reads one must know which changes it has seen: nothing is ever
 * taken out of it. Rejects while Redis is away, at once, and has no time limit of its own.
 */
export interface LinkRedis extends AsyncDisposable {
  get(key: string): Promise<SharedLink | undefined>;
  /** For `ttlMs`. */
  set(key: string, shared: SharedLink, ttlMs: number): Promise<void>;
  /** Adds to the clicks of a link that has a limit, and gives what they are then; they are kept for good. */
  countClicks(linkId: number, clicks: number): Promise<number>;
  /** Resolves when Redis answers; connects anew if need be. */
  ping(): Promise<void>;
}

const Shared = z.strictObject({ link: StoredLink, position: z.number() });
/** Changes with the form of what is stored. */
const prefix = "sluice:link:1:";
const clicksPrefix = "sluice:clicks:";
const connectMs = 1_500;

/** Opens `redis://…`; connects in the background, and again only when pinged. */
export function openLinkRedis(url: string): LinkRedis {
  let redis = create(url);
  let isClosed = false;

  function end(): void {
    if (redis.isOpen) redis.destroy();
  }
  async function connect(): Promise<void> {
    end();
    if (isClosed) throw new Error("closed already");
    redis = create(url);
    await redis.connect();
  }
  connect().catch(() => {});

  return {
    async get(key) {
      const text = await redis.get(prefix + key);
      // One of another version, or of another program, is none.
      return text === null ? undefined : parse(text);
    },
    async set(key, shared, ttlMs) {
      const expiration = { type: "PX", value: Math.ceil(ttlMs) } as const;
      await redis.set(prefix + key, JSON.stringify(shared), { expiration });
    },
    countClicks: (linkId, clicks) => redis.incrBy(`${clicksPrefix}${linkId}`, clicks),
    async ping() {
      const answered = redis.ping().then(
        () => true,
        () => false,
      );
      // A connection that is silent for so long is replaced: the network may have forgotten it.
      if (await Promise.race([answered, delay(connectMs / 3, false, { ref: false })])) return;
      await connect();
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      end();
    },
  };
}

function create(url: string) {
  const client = createClient({
    url,
    name: "sluice-links",
    disableOfflineQueue: true,
    socket: { connectTimeout: connectMs, reconnectStrategy: false },
  });
  // What it breaks is told to those who ask.
  client.on("error", () => {});
  return client;
}

function parse(text: string): SharedLink | undefined {
  try {
    return Shared.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
