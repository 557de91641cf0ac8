import { redisServer } from "@sluice/redis-server/redis-server.ts";
import { createClient } from "@redis/client";

const prefix = "sluice:visitor-salt:";
const saltHex = /^[0-9a-f]{64}$/;
const dayS = 86_400;
/** For all of it. Nobody waits for it, and where it is late something else is used. */
const limitMs = 2_000;

/**
 * As `visitorSalt` of a LinkStore, in Redis, where a key expires when its day and the next one are over. Once a day is
 * too seldom for a connection that is kept. Rejects when Redis does not answer within two seconds. Throws a
 * RedisUrlError.
 */
export function visitorSaltInRedis(url: string): (day: number, fresh: Uint8Array) => Promise<Uint8Array> {
  const server = redisServer(url, "REDIS_URL");
  return async (day, fresh) => {
    const redis = createClient({ ...(await server.locate(limitMs)), name: "sluice-salts" });
    // What it breaks is told to who asks.
    redis.on("error", () => {});
    const end = () => {
      if (redis.isOpen) redis.destroy();
    };
    const tooLate = setTimeout(end, limitMs);
    try {
      await redis.connect();
      await server.check(redis);
      const key = `${prefix}${day}`;
      const expiration = { type: "EXAT", value: (day + 2) * dayS } as const;
      await redis.set(key, Buffer.from(fresh).toString("hex"), { condition: "NX", expiration });
      const kept = await redis.get(key);
      if (kept === null || !saltHex.test(kept)) throw new Error(`${key} in Redis is no key of 32 bytes`);
      return Buffer.from(kept, "hex");
    } finally {
      clearTimeout(tooLate);
      end();
    }
  };
}
