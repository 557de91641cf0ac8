import type { FailureCode } from "./http/http-client.ts";

/** What an endpoint's answer can be other than a success. */
export type WebhookCode = "gone" | "redirected" | "rate-limited" | "server-error" | "unexpected-status";

/** Why an attempt to reach an endpoint was none, as a customer is told; docs/webhooks.md has the same table. @public */
export const outcomeCodes: Readonly<Record<FailureCode | WebhookCode, string>> = {
  "address-not-allowed": "The URL leads where Sluice does not send: check its host, port and scheme.",
  "dns-failed": "The host's name has no address.",
  "dns-timeout": "The name servers of the host did not answer within 2 seconds.",
  "connect-refused": "Nobody listens at the host's port.",
  "connect-timeout": "There was no connection, TLS included, within 3 seconds.",
  unreachable: "The network has no way to the host.",
  "tls-failed": "No TLS connection could be agreed on: TLS 1.2 or later is needed.",
  "certificate-invalid":
    "The host's certificate is expired, self-signed, incomplete or of another name; nothing was sent.",
  timeout: "There was no answer within 10 seconds. The event may have arrived.",
  "connection-closed": "The connection was closed before an answer. The event may have arrived.",
  "headers-too-large": "The answer's headers are larger than 16 KiB. The event may have arrived.",
  "invalid-answer": "What came back is no HTTP answer. The event may have arrived.",
  "invalid-request": "The URL or a header of the endpoint cannot be sent.",
  aborted: "Sluice was stopped during the attempt; it is made again.",
  gone: "The answer was 410: the endpoint is disabled and the event not sent again.",
  redirected: "The answer was a redirect (3xx). Redirects are never followed: set the URL that it names.",
  "rate-limited": "The answer was 429: too many requests.",
  "server-error": "The answer was a status from 500 to 599.",
  "unexpected-status": "The answer was another status that is no success (2xx).",
};
