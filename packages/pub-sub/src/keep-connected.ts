import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { createBackoff, sleep } from "@sluice/service/retry.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import { answerMs, type Connection } from "./connection.ts";
import type { PubSubMetrics } from "./metrics.ts";

/** How often a connection is asked whether it is still there: a silent peer is noticed in two seconds. */
const heartbeatMs = 1_000;

/** A connection that is made again whenever it breaks. Disposing ends it, and takes two seconds at most. */
export interface Line extends AsyncDisposable {
  /** The one that is there, if any. */
  now(): Connection | undefined;
  /** The one that is there, else the next one, whenever that is. */
  next(): Promise<Connection>;
}

export interface LineOptions {
  readonly connect: () => Promise<Connection>;
  /** Makes a new connection fit for use. */
  readonly prepare: (connection: Connection) => Promise<void>;
  readonly log: Log;
  readonly count: PubSubMetrics;
}

export function keepConnected({ connect, prepare, log, count }: LineOptions): Line {
  const outage = createOutage(
    log,
    {},
    { failing: "no connection for messages: trying again", over: "connected for messages again" },
  );
  // Soon, because messages are being lost; spread, because a restarted server meets all of its clients at once.
  const backoff = createBackoff({ minMs: 100, maxMs: 2_000 });
  const stopped = new AbortController();
  const { signal } = stopped;
  let current: Connection | undefined;
  let coming = Promise.withResolvers<Connection>();

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        await using connection = await connect();
        await prepare(connection);
        await use(connection);
      } catch (error) {
        outage.failing(error);
      }
      await sleep(backoff.next(), signal).catch(() => {});
    }
  }

  /** Resolves when the line is closed, rejects when the connection is broken or has fallen silent. */
  async function use(connection: Connection): Promise<void> {
    const broken = new AbortController();
    const over = AbortSignal.any([signal, broken.signal]);
    const watching = connection.broken.then((reason) => broken.abort(reason));
    current = connection;
    coming.resolve(connection);
    count.connects.inc();
    count.connected.set(1);
    outage.over();
    try {
      while (!over.aborted) {
        await withinMs(answerMs, connection.ping());
        backoff.reset();
        await sleep(heartbeatMs, over).catch(() => {});
      }
      broken.signal.throwIfAborted();
    } finally {
      current = undefined;
      coming = Promise.withResolvers();
      count.connected.set(0);
      await connection[Symbol.asyncDispose]();
      await watching;
    }
  }

  const following = follow();
  return {
    now: () => current,
    next: () => coming.promise,
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await following;
    },
  };
}
