import { setTimeout as delay } from "node:timers/promises";
import { type RedisOptions, type RedisServer, redisServer } from "@sluice/redis-server/redis-server.ts";
import { createClient, ErrorReply } from "@redis/client";
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
  /** For `ttlMs`; where Redis takes nothing, not at all. */
  set(key: string, shared: SharedLink, ttlMs: number): Promise<void>;
  /**
   * Adds to the clicks of a link that has a limit, and gives what they are then. They are kept for good; those of a link
   * with an end (`expiresAt`, milliseconds since 1970) until 400 days after it.
   */
  countClicks(linkId: number, clicks: number, expiresAt?: number): Promise<number>;
  /** Resolves when Redis answers; connects anew if need be. */
  ping(): Promise<void>;
}

const Shared = z.strictObject({ link: StoredLink, position: z.number() });
/** Changes with the form of what is stored. */
const prefix = "sluice:link:1:";
const clicksPrefix = "sluice:clicks:";
/** Over a year: a link that is brought back for the next season, by a later end, goes on from its count. */
const clicksKeptMs = 400 * 86_400_000;
const connectMs = 1_500;
/** Also for one that is being made: its handshake has no time limit of its own. */
const silentMs = 1_000;

/** Opens `redis://…` and its like; connects in the background, and again only when pinged. Throws a RedisUrlError. */
export function openLinkRedis(url: string): LinkRedis {
  const server = redisServer(url, "REDIS_URL");
  let isClosed = false;
  let { connected, end } = connect(server);

  async function answers(): Promise<boolean> {
    try {
      // Also whether it is still the primary.
      await server.check(await connected);
      return true;
    } catch {
      return false;
    }
  }

  return {
    async get(key) {
      const text = await (await connected).get(prefix + key);
      // One of another version, or of another program, is none.
      return text === null ? undefined : parse(text);
    },
    async set(key, shared, ttlMs) {
      const expiration = { type: "PX", value: Math.ceil(ttlMs) } as const;
      try {
        await (await connected).set(prefix + key, JSON.stringify(shared), { expiration });
      } catch (error) {
        // One that is full, or may not be written to, is there all the same.
        if (!(error instanceof ErrorReply)) throw error;
      }
    },
    async countClicks(linkId, clicks, expiresAt) {
      const counted = `${clicksPrefix}${linkId}`;
      // By whatever end the link has now: it may have been moved, or taken away.
      const adding = (await connected).multi().incrBy(counted, clicks);
      const [total] = await (
        expiresAt === undefined
          ? adding.persist(counted)
          : adding.pExpireAt(counted, expiresAt + clicksKeptMs)
      ).execTyped();
      return total;
    },
    async ping() {
      // A connection that is silent for so long is replaced: the network may have forgotten it.
      if (await Promise.race([answers(), delay(silentMs, false, { ref: false })])) return;
      end();
      if (isClosed) throw new Error("closed already");
      ({ connected, end } = connect(server));
      await connected;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      end();
    },
  };
}

type Client = ReturnType<typeof create>;

/** Begins to connect. `end` ends the connection, also one that is still being made. */
function connect(server: RedisServer): { connected: Promise<Client>; end: () => void } {
  const given = new AbortController();
  const connected = open(server, given.signal);
  // What breaks it is told to those who ask.
  connected.catch(() => {});
  return { connected, end: () => given.abort() };
}

async function open(server: RedisServer, signal: AbortSignal): Promise<Client> {
  const client = create(await server.locate(connectMs));
  const destroy = (): void => {
    if (client.isOpen) client.destroy();
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", destroy);
  try {
    await client.connect();
    await server.check(client);
  } catch (error) {
    destroy();
    throw new Error(`redis: ${server.address}: ${server.explain(error)}`, { cause: error });
  }
  return client;
}

function create(options: RedisOptions) {
  const client = createClient({ ...options, name: "sluice-links" });
  // What breaks it is told to those who ask.
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
