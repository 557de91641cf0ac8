import { botReasons } from "@sluice/click-event/bot.ts";
import { channels } from "@sluice/click-event/channel.ts";
import { type ClickEvent, clickIdNames } from "@sluice/click-event/click-event.ts";
import { devices, type Enrichment } from "@sluice/click-event/enrich.ts";
import { z } from "zod";

const reasons = z.enum(["no_agent", "preview", "crawler", "data_centre", "spam_referrer", "scanner"]);

const text = (meaning: string) => z.string().describe(meaning);
const ClickIds = z.object(
  Object.fromEntries(clickIdNames.map((name) => [name, z.exactOptional(z.string())])),
);

/** The `data` of a click: what is stored of it, but for what concerns our own machines. */
export const LinkClicked = z.object({
  version: z.literal(1),
  click_id: text("UUIDv7, the same wherever this click is spoken of"),
  link_id: z.int().describe("the link's number"),
  domain: text("the short link's domain"),
  slug: text("its path, without the slash"),
  destination: text("where the visitor was sent"),
  status: z.int().describe("the redirect's status: 301, 302, 307 or 308"),
  method: z.enum(["GET", "HEAD"]),
  country: text("ISO 3166-1 alpha-2"),
  region: text("name of the region"),
  city: text("name of the city"),
  browser: text("such as Chrome"),
  browser_version: text("as the browser says"),
  os: text("such as Windows"),
  os_version: text("as the browser says"),
  device: z.enum(devices),
  user_agent: text("the header as it came, at most 512 characters"),
  language: text("the visitor's first language, such as de-DE"),
  referrer_domain: text("host of the page that had the link"),
  referrer_channel: z.enum(channels).describe("where the click came from, coarsely"),
  visitor: text("tells one visitor of a day from another, in this workspace alone"),
  is_bot: z.boolean().describe("not taken for a person's click"),
  bot_reasons: z.array(reasons).describe("why not, as far as the edge knows"),
  prefetch: z.boolean().describe("fetched ahead by a browser, perhaps never seen"),
  qr: z.boolean().describe("the link was scanned as a QR code"),
  variant: z.int().describe("which of several destinations, from 1; 0 where there is one"),
  gpc: z.boolean().describe("the visitor asked not to be tracked (Global Privacy Control)"),
  utm: z
    .object({
      source: z.string(),
      medium: z.string(),
      campaign: z.string(),
      term: z.string(),
      content: z.string(),
    })
    .describe("of the destination and of the link as it was clicked"),
  click_ids: ClickIds.describe("of advertising networks, those that are there"),
  clipped: z.boolean().describe("texts were cut so that the body stays below 20 kB"),
});
export type LinkClicked = z.infer<typeof LinkClicked>;

export function linkClicked(event: ClickEvent, enrichment: Enrichment): LinkClicked {
  return {
    version: 1,
    click_id: event.event_id,
    link_id: event.link_id,
    domain: event.domain,
    slug: event.slug,
    destination: event.destination,
    status: event.status,
    method: event.method,
    country: event.country,
    region: event.region,
    city: event.city,
    browser: enrichment.browser,
    browser_version: enrichment.browser_version,
    os: enrichment.os,
    os_version: enrichment.os_version,
    device: enrichment.device,
    user_agent: event.user_agent,
    language: event.language,
    referrer_domain: event.referrer_domain,
    referrer_channel: enrichment.referrer_channel,
    visitor: event.visitor,
    is_bot: enrichment.is_bot,
    bot_reasons: reasons.options.filter((name) => (event.bot & botReasons[name].bit) !== 0),
    prefetch: event.prefetch,
    qr: event.qr,
    variant: event.variant,
    gpc: event.gpc,
    utm: event.utm,
    click_ids: event.click_ids,
    clipped: false,
  };
}
