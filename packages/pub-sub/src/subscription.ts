import type { PubSubMetrics } from "./metrics.ts";
import { maxWaiting, type Notice } from "./pub-sub.ts";

/** One subscriber's queue between the connection, which never waits, and a reader at its own pace. */
export interface Subscription {
  message(message: string): void;
  gap(): void;
  /** To be read once; ends with the signal. */
  notices(): AsyncGenerator<Notice, void>;
}

export function createSubscription(count: PubSubMetrics, signal: AbortSignal): Subscription {
  const waiting: Notice[] = [];
  let arrived = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => arrived.resolve());

  function put(notice: Notice): void {
    waiting.push(notice);
    arrived.resolve();
  }
  function gap(): void {
    // Nothing has come since the last one, and the reader has not seen that yet.
    if (waiting.at(-1)?.kind === "gap") return;
    count.gaps.inc();
    put({ kind: "gap" });
  }
  return {
    gap,
    message(message) {
      if (waiting.length < maxWaiting) return put({ kind: "message", message });
      count.dropped.inc();
      gap();
    },
    async *notices() {
      while (!signal.aborted) {
        const notice = waiting.shift();
        if (notice === undefined) {
          await arrived.promise;
          arrived = Promise.withResolvers();
        } else yield notice;
      }
    },
  };
}
