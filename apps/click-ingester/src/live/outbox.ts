import type { LiveMessage } from "@sluice/pub-sub/live-feed.ts";
import { maxMessageBytes } from "@sluice/pub-sub/pub-sub.ts";
import type { LiveMetrics } from "./metrics.ts";

/** One channel's next message: as many clicks as it holds. */
export interface Outbox {
  /** One click, encoded. Dropped, and said in the message, when the message is full. */
  add(click: string): void;
  /** Sends what there is, unless the last message is still under way. */
  flush(): void;
}

/** What the message has around the clicks. */
const envelopeBytes = Buffer.byteLength(encode([], Number.MAX_SAFE_INTEGER));

export function createOutbox(
  publish: (message: string) => Promise<void>,
  metrics: Pick<LiveMetrics, "published" | "dropped">,
): Outbox {
  let clicks: string[] = [];
  let bytes = envelopeBytes;
  let dropped = 0;
  let isSending = false;

  function sent(count: number): void {
    isSending = false;
    metrics.published.inc(count);
  }
  /** Whoever keeps the connection says what is wrong with it. */
  function notSent(count: number): void {
    isSending = false;
    metrics.dropped.inc({ reason: "unavailable" }, count);
  }

  return {
    add(click) {
      const size = Buffer.byteLength(click) + 1;
      if (bytes + size > maxMessageBytes) {
        dropped += 1;
        metrics.dropped.inc({ reason: "too-many" });
        return;
      }
      bytes += size;
      clicks.push(click);
    },
    flush() {
      if (isSending || clicks.length + dropped === 0) return;
      isSending = true;
      const count = clicks.length;
      publish(encode(clicks, dropped)).then(
        () => sent(count),
        () => notSent(count),
      );
      [clicks, bytes, dropped] = [[], envelopeBytes, 0];
    },
  };
}

/** A `LiveMessage`. */
function encode(clicks: readonly string[], dropped: LiveMessage["dropped"]): string {
  return `{"clicks":[${clicks.join(",")}],"dropped":${dropped}}`;
}
