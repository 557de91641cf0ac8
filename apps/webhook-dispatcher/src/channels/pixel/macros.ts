import { clickIdNames } from "@sluice/click-event/click-event.ts";
import { shortUrlOf } from "../click-facts.ts";
import type { Click } from "../clicks.ts";

/** What each macro stands for; empty where that is not known. The names are those of the link store's list. */
export function macroValues({ event, enrichment }: Click): Readonly<Record<string, string>> {
  return {
    click_id: event.event_id,
    ts: String(event.ts),
    link_id: String(event.link_id),
    domain: event.domain,
    slug: event.slug,
    short_url: shortUrlOf(event),
    destination: event.destination,
    variant: String(event.variant),
    qr: event.qr ? "1" : "0",
    visitor: event.visitor,
    country: event.country,
    region: event.region,
    city: event.city,
    language: event.language,
    device: enrichment.device,
    os: enrichment.os,
    browser: enrichment.browser,
    referrer_domain: event.referrer_domain,
    channel: enrichment.referrer_channel,
    utm_source: event.utm.source,
    utm_medium: event.utm.medium,
    utm_campaign: event.utm.campaign,
    utm_term: event.utm.term,
    utm_content: event.utm.content,
    ...Object.fromEntries(clickIdNames.map((name) => [name, event.click_ids[name] ?? ""])),
  };
}
