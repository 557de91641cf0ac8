import { z } from "zod";

/** RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Printable ASCII, inside of which there may be blanks: what no server reads in its own way, and no line end. */
const fieldValue = /^[!-~](?:[\t -~]*[!-~])?$/;

/** Of a connection (RFC 9110, 7.6.1), of the message itself, or ours. */
const reserved = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

const maxHeaders = 20;
const maxBytes = 4_096;

/** Names in lower case. Values are shown as their length: they are secrets more often than not. */
export const Headers = z
  .record(z.string(), z.unknown(), "names and values")
  .transform((given, context): Readonly<Record<string, string>> => {
    const checked = new Map<string, string>();
    const refuse = (message: string, input: unknown, name?: string): never => {
      context.addIssue({ code: "custom", message, input, ...(name === undefined ? {} : { path: [name] }) });
      return z.NEVER;
    };
    for (const [name, value] of Object.entries(given)) {
      const lower = name.toLowerCase();
      if (!token.test(name)) return refuse("names of letters, digits and !#$%&'*+.^_`|~-", name);
      if (reserved.has(lower) || lower.startsWith("webhook-"))
        return refuse("a header that Sluice does not set itself", name);
      if (checked.has(lower)) return refuse("each name once", name);
      if (typeof value !== "string" || !fieldValue.test(value)) {
        return refuse("printable ASCII without blanks around it", `${String(value).length} characters`, name);
      }
      checked.set(lower, value);
    }
    const bytes = [...checked].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (checked.size > maxHeaders) return refuse(`at most ${maxHeaders} headers`, checked.size);
    if (bytes > maxBytes) return refuse(`at most ${maxBytes} bytes in all`, bytes);
    return Object.fromEntries(checked);
  });
