/**
 * The port: short messages to whoever listens now. Lossy by design: a message is not kept, nothing is sent again, and
 * the one thing promised about a loss is that the subscriber is told that there may have been one. A URL
 * chooses the adapter in `open.ts`; `contract.ts` is the suite that each of them passes on its real service.
 */

export type Notice =
  | { readonly kind: "message"; readonly message: string }
  /** Messages may have been lost before this one: look for yourself what is new. */
  | { readonly kind: "gap" };

export interface PubSub extends AsyncDisposable {
  /**
   * Resolves when the server has taken the message for those who listen; that they get it is not promised. Waits up
   * to a second for a connection and up to a second for the answer. Rejects with `unavailable` when there is none
   * (it may have been sent all the same), with `too-large` above `maxMessageBytes`, with `misuse` for a channel that
   * cannot be. May be called concurrently; one publisher's messages keep their order.
   */
  publish(channel: string, message: string): Promise<void>;
  /**
   * The messages of a channel from the first reading on, those of this process included. Begins with a gap, once the
   * channel is heard for certain; another one follows each time that the connection was away, or that so many messages were waiting
   * (`maxWaiting`) that further ones had to be dropped, which is counted. Ends when the signal aborts or all is
   * closed. `subscribe` throws `misuse` for a channel that cannot be.
   */
  subscribe(channel: string, options: { signal: AbortSignal }): AsyncIterable<Notice>;
  /** Resolves when the server answers; rejects with `unavailable`. Takes two seconds at most. */
  ping(): Promise<void>;
}

/** Postgres takes 8,000 with what it adds. */
export const maxMessageBytes = 7_000;
/** Messages waiting for one subscriber: 7 MB at the very most. */
export const maxWaiting = 1_000;

export type PubSubErrorCode = "unavailable" | "too-large" | "misuse" | "closed";

/** The only error that leaves this package on purpose. `cause` is the driver's own. */
export class PubSubError extends Error {
  override readonly name = "PubSubError";
  readonly code: PubSubErrorCode;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;

  constructor(code: PubSubErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.retryable = code === "unavailable";
  }
}
