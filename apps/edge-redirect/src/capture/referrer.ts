import { botReasons } from "@sluice/click-event/bot.ts";
import { limits } from "@sluice/click-event/click-event.ts";

import { createRecent } from "../recent.ts";

/** What an event keeps of a `Referer`. */
export interface Referrer {
  /** Its host, in plain characters, or empty. */
  readonly domain: string;
  /** The bits of `botReasons` that it gives. */
  readonly bot: number;
}

const none: Referrer = { domain: "", bot: 0 };

/** Most browsers send the origin alone, so that a few thousand are most of what is sent … */
const maxReferrers = 4096;
/** … and one that is longer than this is read each time. */
const maxRemembered = 256;

/** Remembers what was read, because most visitors of a link come from the same few places. */
export function createReferrers(
  isSpam: (domain: string) => boolean,
): (header: string | undefined) => Referrer {
  const referrers = createRecent<string, Referrer>(maxReferrers);
  return (header) => {
    if (header === undefined || header === "") return none;
    const known = referrers.get(header);
    if (known !== undefined) return known;
    const domain = referrerDomain(header);
    const referrer = { domain, bot: isSpam(domain) ? botReasons.spam_referrer.bit : 0 };
    if (header.length <= maxRemembered) referrers.set(header, referrer);
    return referrer;
  };
}

/**
 * The host that a `Referer` names, in lower case, or empty: plain letters, digits and `.-_[]:` only, so that it is
 * its own JSON. An app's `android-app://com.example/…` gives the app's id.
 */
export function referrerDomain(referrer: string): string {
  const [, host = ""] =
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#\\]*@)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d*)?(?:[/?#\\]|$)/i.exec(
      referrer,
    ) ?? [];
  return host.length <= limits.domain ? host.toLowerCase() : "";
}
