import type { PixelMacro } from "@sluice/link-store/targets/pixel-macros.ts";
import type { Click } from "../clicks.ts";

export type MacroValues = Readonly<Record<PixelMacro, string>>;

/** What each macro stands for; empty where that is not known. */
export function macroValues({ event, enrichment }: Click): MacroValues {
  const { gclid = "", gbraid = "", wbraid = "", dclid = "", fbclid = "" } = event.click_ids;
  const { msclkid = "", ttclid = "", twclid = "", li_fat_id = "" } = event.click_ids;
  return {
    event_id: event.event_id,
    click_id: event.event_id,
    link_id: String(event.link_id),
    domain: event.domain,
    slug: event.slug,
    destination: event.destination,
    country: event.country,
    region: event.region,
    city: event.city,
    device: enrichment.device,
    os: enrichment.os,
    browser: enrichment.browser,
    language: event.language,
    referrer: event.referrer_domain,
    channel: enrichment.referrer_channel,
    variant: String(event.variant),
    ts: String(Math.floor(event.ts / 1_000)),
    ts_ms: String(event.ts),
    utm_source: event.utm.source,
    utm_medium: event.utm.medium,
    utm_campaign: event.utm.campaign,
    utm_term: event.utm.term,
    utm_content: event.utm.content,
    gclid,
    gbraid,
    wbraid,
    dclid,
    fbclid,
    msclkid,
    ttclid,
    twclid,
    li_fat_id,
  };
}
