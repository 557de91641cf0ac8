import type { Click } from "./clicks.ts";

/** What is told of a click, under our own names; what is not known is left out. Never who the visitor is. */
export function factsOf({ event, enrichment }: Click) {
  return {
    link_id: String(event.link_id),
    short_url: shortUrlOf(event),
    destination: event.destination,
    channel: enrichment.referrer_channel,
    qr: event.qr,
    variant: event.variant,
    ...known({
      referrer_domain: event.referrer_domain,
      country: event.country,
      region: event.region,
      city: event.city,
      language: event.language,
      browser: enrichment.browser,
      browser_version: enrichment.browser_version,
      os: enrichment.os,
      os_version: enrichment.os_version,
      device: enrichment.device,
      utm_source: event.utm.source,
      utm_medium: event.utm.medium,
      utm_campaign: event.utm.campaign,
      utm_term: event.utm.term,
      utm_content: event.utm.content,
    }),
  };
}

/** The entries that say something. */
export function known<T extends Record<string, string | undefined>>(
  values: T,
): Partial<Record<keyof T & string, string>> {
  const said: Partial<Record<keyof T & string, string>> = {};
  for (const name in values) if (values[name] !== undefined && values[name] !== "") said[name] = values[name];
  return said;
}

/** The link that was followed, as it stands in an address bar. */
function shortUrlOf({ domain, slug }: { readonly domain: string; readonly slug: string }): string {
  return `https://${domain}/${slug.split("/").map(encodeURIComponent).join("/")}`;
}
