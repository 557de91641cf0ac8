import { withinMs } from "@sluice/service/time-limit.ts";
import { answerMs, type Connection } from "./connection.ts";
import type { PubSubMetrics } from "./metrics.ts";
import type { Notice } from "./pub-sub.ts";
import { createSubscription, type Subscription } from "./subscription.ts";

/** Who in this process listens to which channel, over whatever connection there is. */
export interface Channels {
  deliver(channel: string, message: string): void;
  /** Makes a new connection deliver what is subscribed to, and tells subscribers that there was a gap. */
  listenToAll(connection: Connection): Promise<void>;
  subscribe(channel: string, signal: AbortSignal): AsyncGenerator<Notice, void>;
}

export function createChannels(count: PubSubMetrics): Channels {
  const channels = new Map<string, Set<Subscription>>();
  /** The last that listens to all of them; it may be broken by now. */
  let connection: Connection | undefined;

  function add(channel: string, subscription: Subscription): void {
    const others = channels.get(channel);
    if (others === undefined) channels.set(channel, new Set([subscription]));
    else others.add(subscription);
    const present = connection;
    if (present === undefined) return;
    withinMs(answerMs, present.listen(channel)).then(
      () => subscription.gap(),
      // The next one will listen.
      () => present[Symbol.asyncDispose](),
    );
  }

  function remove(channel: string, subscription: Subscription): void {
    const subscriptions = channels.get(channel);
    subscriptions?.delete(subscription);
    if (subscriptions?.size !== 0) return;
    channels.delete(channel);
    // A server that goes on sending what nobody listens to does no harm.
    connection?.unlisten(channel).catch(() => {});
  }

  return {
    deliver(channel, message) {
      count.received.inc();
      for (const subscription of channels.get(channel) ?? []) subscription.message(message);
    },
    async listenToAll(fresh) {
      // Also those that are added meanwhile: a map's iteration meets them.
      for (const channel of channels.keys()) await withinMs(answerMs, fresh.listen(channel));
      // At once: what is added from here on is listened to by whoever adds it.
      connection = fresh;
      for (const subscriptions of channels.values()) for (const each of subscriptions) each.gap();
    },
    async *subscribe(channel, signal) {
      const subscription = createSubscription(count, signal);
      add(channel, subscription);
      try {
        yield* subscription.notices();
      } finally {
        remove(channel, subscription);
      }
    },
  };
}
