/** What an adapter is: one connection to the server, good for publishing and listening, until it breaks. */
export interface Connection extends AsyncDisposable {
  publish(channel: string, message: string): Promise<void>;
  /** Resolves when every later message of the channel will be delivered. */
  listen(channel: string): Promise<void>;
  unlisten(channel: string): Promise<void>;
  /** Resolves when the server answers. */
  ping(): Promise<void>;
  /** Resolves, with the reason where there is one, when the connection is over. Never rejects. */
  readonly broken: Promise<unknown>;
  /** Ends it at once, without waiting for a server that may be silent. Harmless to repeat. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Makes a connection; `deliver` gets its messages. Rejects when there is none within `connectMs`, or with a
 * PubSubError `misuse` when there can never be one.
 */
export type Connect = (deliver: (channel: string, message: string) => void) => Promise<Connection>;

/** To reach a server and log in. */
export const connectMs = 2_000;
/** What any question to it may take. */
export const answerMs = 1_000;
