import { createClient } from "@redis/client";
import { type Connect, connectMs } from "../connection.ts";

/** PUBLISH and SUBSCRIBE on one connection, which RESP 3 (Redis 6 and later) allows. */
export function connectRedis(url: string): Connect {
  return async (deliver) => {
    const client = createClient({
      url,
      RESP: 3,
      name: "sluice-messages",
      disableOfflineQueue: true,
      // `keepConnected` makes connections anew, and tells subscribers.
      socket: { connectTimeout: connectMs, reconnectStrategy: false },
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
    } catch (error) {
      await end();
      throw error;
    }
    const listener = (message: string, channel: string) => deliver(channel, message);
    return {
      async publish(channel, message) {
        await client.publish(channel, message);
      },
      listen: (channel) => client.subscribe(channel, listener),
      unlisten: (channel) => client.unsubscribe(channel),
      async ping() {
        await client.ping();
      },
      broken: broken.promise,
      [Symbol.asyncDispose]: end,
    };
  };
}
