import { ChannelSettingsError } from "../settings-error.ts";

/** Of one endpoint; together they stay far below the 8 KiB that servers commonly take. */
const maxHeaders = 20;
const maxValue = 256;

/** The customer's own headers. Throws a `ChannelSettingsError` for what cannot be sent, or is for us to say. */
export function ownHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers);
  if (entries.length > maxHeaders) throw wrong("headers", `at most ${maxHeaders}`, String(entries.length));
  for (const [name, value] of entries) {
    const field = `headers.${token.test(name) ? name : "?"}`;
    if (!token.test(name)) throw wrong(field, "a name in lower case, such as x-tenant", "another");
    if (reserved.has(name) || name.startsWith("webhook-") || name.startsWith("proxy-")) {
      throw wrong(field, "nothing: Sluice sets it, or the connection does", "a value");
    }
    if (!printable.test(value) || value.length > maxValue) {
      throw wrong(
        field,
        `at most ${maxValue} printable ASCII characters`,
        `a text of ${value.length} characters`,
      );
    }
  }
  return headers;
}

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const printable = /^[\x20-\x7e]*$/;

const reserved = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

function wrong(field: string, takes: string, got: string): ChannelSettingsError {
  return new ChannelSettingsError([{ field, takes, got }]);
}
