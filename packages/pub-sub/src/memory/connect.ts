import type { Connect } from "../connection.ts";

type Deliver = Parameters<Connect>[0];

/** What a server is to the others: who listens to a channel. */
export type Hub = Map<string, Set<Deliver>>;

const hubOfThisProcess: Hub = new Map();

/** A connection to a hub in memory, which never breaks. */
export function connectMemory(hub: Hub = hubOfThisProcess): Connect {
  return async (deliver) => {
    const broken = Promise.withResolvers<unknown>();
    const heard = new Set<string>();
    async function unlisten(channel: string): Promise<void> {
      heard.delete(channel);
      const listeners = hub.get(channel);
      listeners?.delete(deliver);
      if (listeners?.size === 0) hub.delete(channel);
    }
    return {
      async publish(channel, message) {
        for (const listener of hub.get(channel) ?? []) listener(channel, message);
      },
      async listen(channel) {
        heard.add(channel);
        const listeners = hub.get(channel);
        if (listeners === undefined) hub.set(channel, new Set([deliver]));
        else listeners.add(deliver);
      },
      unlisten,
      async ping() {},
      broken: broken.promise,
      async [Symbol.asyncDispose]() {
        for (const channel of heard) await unlisten(channel);
        broken.resolve("closed");
      },
    };
  };
}
