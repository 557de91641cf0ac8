import { limits } from "@sluice/click-event/click-event.ts";

/**
 * Schemes a link may lead to: the web, mail and telephone, and the apps that public bug reports of other
 * shorteners name. Never one that runs what it carries (`javascript:`, `data:`, `blob:`, `intent:`).
 */
const schemes = new Set([
  "http:",
  "https:",
  "mailto:",
  "tel:",
  "sms:",
  "android:",
  "fb:",
  "itms-apps:",
  "market:",
  "tg:",
  "viber:",
  "whatsapp:",
]);

const control = /\p{Cc}/u;
const printableAscii = /^[\x21-\x7e]+$/;

/**
 * A destination as it is stored and sent in a Location header: an absolute URL as the WHATWG algorithm writes it
 * (host in lower case and punycode, everything beyond ASCII percent-encoded, all else byte for byte). Otherwise
 * `{ takes }`: the rule that the text breaks.
 */
export function normaliseDestination(text: string): { href: string } | { takes: string } {
  // The URL parser would drop line breaks silently, also those inside "java\nscript:".
  if (control.test(text) || !text.isWellFormed()) return { takes: "no control characters" };
  const url = URL.parse(text);
  if (url === null) return { takes: "an absolute URL, such as https://example.com/" };
  if (!schemes.has(url.protocol)) return { takes: `one of the schemes ${[...schemes].join(" ")}` };
  if (!printableAscii.test(url.href)) return { takes: "a URL without spaces" };
  if (url.href.length > limits.destination) return { takes: `at most ${limits.destination} bytes` };
  return { href: url.href };
}
