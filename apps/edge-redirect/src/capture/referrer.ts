import { limits } from "@sluice/click-event/click-event.ts";

/**
 * The host a `Referer` names, in lower case, or empty. An app's `android-app://com.example/…` gives its id.
 * Sliced by hand, because a URL parser costs more than the rest of a click.
 */
export function referrerDomain(referrer: string): string {
  const start = referrer.indexOf("://") + 3;
  if (start === 2) return "";
  let end = start;
  while (end < referrer.length && !ends.has(referrer.charCodeAt(end))) end += 1;
  const authority = referrer.slice(referrer.lastIndexOf("@", end - 1) + 1 || start, end);
  const host = authority.replace(/:\d*$/, "").toLowerCase();
  return host.length <= limits.domain && /^[a-z0-9._\-[\]:]+$/.test(host) ? host : "";
}

/** The characters that end an authority: / ? # \ */
const ends = new Set([0x2f, 0x3f, 0x23, 0x5c]);
