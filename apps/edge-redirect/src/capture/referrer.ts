import { limits } from "@sluice/click-event/click-event.ts";

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
