import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import { createChannels } from "./channels.ts";
import { answerMs, type Connect, type Connection } from "./connection.ts";
import { keepConnected } from "./keep-connected.ts";
import { pubSubMetrics } from "./metrics.ts";
import { maxMessageBytes, type PubSub, PubSubError } from "./pub-sub.ts";

/** What every adapter is given. */
export interface PubSubDeps {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Calls under way, each for two seconds at most. More would wait for a server that is away. */
const maxCalls = 1_000;

/** The port over connections that may break. Connects in the background: opening never fails. */
export function openOverConnections(connect: Connect, { log, metrics }: PubSubDeps): PubSub {
  const count = pubSubMetrics(metrics);
  const closed = new AbortController();
  const channels = createChannels(count);
  const line = keepConnected({
    connect: () => connect((channel, message) => channels.deliver(channel, message)),
    prepare: (connection) => channels.listenToAll(connection),
    log,
    count,
  });
  const closing = Promise.withResolvers<never>();
  // Whoever races against it hears of it.
  closing.promise.catch(() => {});
  let calls = 0;

  async function call(act: (connection: Connection) => Promise<void>): Promise<void> {
    if (closed.signal.aborted) throw closedError();
    if (calls >= maxCalls) throw new PubSubError("unavailable", `${maxCalls} calls are waiting already`);
    calls += 1;
    try {
      await Promise.race([closing.promise, answer(act)]);
    } catch (error) {
      if (error instanceof PubSubError) throw error;
      throw new PubSubError("unavailable", "messages: the server cannot be asked", { cause: error });
    } finally {
      calls -= 1;
    }
  }

  async function answer(act: (connection: Connection) => Promise<void>): Promise<void> {
    const connection = line.now() ?? (await withinMs(answerMs, line.next()));
    await withinMs(answerMs, act(connection));
  }

  return {
    async publish(channel, message) {
      checkChannel(channel);
      const bytes = Buffer.byteLength(message);
      if (bytes > maxMessageBytes) {
        throw new PubSubError("too-large", `message takes up to ${maxMessageBytes} bytes; got ${bytes}`);
      }
      await call((connection) => connection.publish(channel, message));
      count.published.inc();
    },
    subscribe(channel, { signal }) {
      checkChannel(channel);
      return channels.subscribe(channel, AbortSignal.any([signal, closed.signal]));
    },
    ping: () => call((connection) => connection.ping()),
    async [Symbol.asyncDispose]() {
      closed.abort();
      closing.reject(closedError());
      await line[Symbol.asyncDispose]();
    },
  };
}

function closedError(): PubSubError {
  return new PubSubError("closed", "closed already");
}

/** What both an identifier of Postgres and a channel of Redis can be, whole. */
const channelShape = /^[a-z][a-z0-9_.:-]{0,62}$/;

function checkChannel(channel: string): void {
  if (channelShape.test(channel)) return;
  const got = JSON.stringify(channel.slice(0, 100));
  throw new PubSubError(
    "misuse",
    `channel takes a lower-case letter and up to 62 of a-z 0-9 _ . : -; got ${got}`,
  );
}
