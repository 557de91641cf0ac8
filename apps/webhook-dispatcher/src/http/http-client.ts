/** The port to the outside: one HTTP request, and what came of it. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The operator lets this target reach private networks. */
  readonly allowPrivate: boolean;
}
export type HttpReply = HttpAnswer | HttpFailure;
export interface HttpAnswer {
  readonly kind: "answer";
  readonly status: number;
  /** Only those asked for by anybody: `retry-after`, `location`, `content-type`, and `ratelimit-…`; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded text, at most 64 KiB; empty where it is no text, is compressed unasked, or with `allowPrivate`. */
  readonly body: string;
  /** There was more than `body` has: it was too long or too slow, or the connection ended in the middle. */
  readonly cut?: true;
  readonly durationMs: number;
}
export interface HttpFailure {
  readonly kind: "failure";
  readonly code: FailureCode;
  /** False when the receiver cannot have seen the whole request. */
  readonly maybeReceived: boolean;
  readonly durationMs: number;
}
/** Closed; docs/webhooks.md explains each to a customer. */
export type FailureCode =
  | "address-not-allowed"
  | "dns-failed"
  | "dns-timeout"
  | "connect-refused"
  | "connect-timeout"
  | "unreachable"
  | "tls-failed"
  | "certificate-invalid"
  | "timeout"
  | "connection-closed"
  | "headers-too-large"
  | "invalid-answer"
  | "invalid-request"
  | "aborted";
export interface HttpClient extends AsyncDisposable {
  /** Never rejects. Ends after 15 s in all, or when the signal aborts (`aborted`). Follows no redirect. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpReply>;
}
