import { redisServer, RedisUrlError } from "@sluice/redis-server/redis-server.ts";
import { createClient } from "@redis/client";
import { type Connect, connectMs } from "../connection.ts";
import { PubSubError } from "../pub-sub.ts";

/** PUBLISH and SUBSCRIBE on one connection, which RESP 3 (Redis 6 and later) allows. Throws `misuse` for a wrong URL. */
export function connectRedis(url: string): Connect {
  const server = misuse(() => redisServer(url, "REDIS_URL"));
  return async (deliver) => {
    const client = createClient({
      // `keepConnected` makes connections anew, and tells subscribers.
      ...(await server.locate(connectMs)),
      RESP: 3,
      name: "sluice-messages",
    });
    const broken = Promise.withResolvers<unknown>();
    client.on("error", broken.resolve);
    client.on("end", () => broken.resolve("the server has ended the connection"));
    const end = async (): Promise<void> => {
      if (client.isOpen) client.destroy();
      broken.resolve("closed");
    };
    try {
      await client.connect();
      await server.check(client);
    } catch (error) {
      await end();
      throw new Error(server.explain(error), { cause: error });
    }
    const listener = (message: string, channel: string) => deliver(channel, message);
    return {
      async publish(channel, message) {
        await client.publish(channel, message);
      },
      listen: (channel) => client.subscribe(channel, listener),
      unlisten: (channel) => client.unsubscribe(channel),
      // Also whether it is still the primary.
      ping: () => server.check(client),
      broken: broken.promise,
      [Symbol.asyncDispose]: end,
    };
  };
}

function misuse<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof RedisUrlError)) throw error;
    throw new PubSubError("misuse", error.message, { cause: error });
  }
}
