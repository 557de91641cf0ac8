import { clip } from "@sluice/click-event/clip.ts";
import { factsOf, known } from "../click-facts.ts";
import { type Click, notAfter } from "../clicks.ts";

/** Longest values of a parameter, in characters; of page_location and page_referrer. Longer ones are dropped. */
const maxValue = 100;
const maxLocation = 1_000;
const maxReferrer = 420;

/**
 * What a request says once for all of its events. `client_id` has to be two positive numbers with a period between; the
 * visitor's hash is 128 random bits, and 32 of it make a number.
 */
export function contextOf({ event, enrichment }: Click) {
  const part = (at: number) => Number.parseInt(event.visitor.slice(at, at + 8), 16) + 1;
  return {
    client_id: `${part(0)}.${part(8)}`,
    user_location: known({ country_id: event.country, city: clip(event.city, maxValue) }),
    device: known({
      category: enrichment.device,
      language: event.language,
      operating_system: enrichment.os,
      operating_system_version: enrichment.os_version,
      browser: enrichment.browser,
      browser_version: enrichment.browser_version,
    }),
  };
}

/**
 * One event. Its session is the half hour, after which Analytics ends an idle session; without a session and some time of
 * engagement it is in no realtime report.
 */
export function eventOf(name: string, click: Click, now: number) {
  const { event } = click;
  const { short_url, destination, link_id, channel, qr, variant } = factsOf(click);
  return {
    name,
    timestamp_micros: notAfter(now, click) * 1_000,
    params: {
      session_id: String(Math.floor(event.ts / 1_800_000) * 1_800),
      engagement_time_msec: 1,
      click_id: event.event_id,
      link_id,
      channel,
      qr: qr ? 1 : 0,
      variant,
      ...known({
        page_location: clip(short_url, maxLocation),
        page_referrer:
          event.referrer_domain === "" ? "" : clip(`https://${event.referrer_domain}/`, maxReferrer),
        link_url: clip(destination, maxValue),
        source: clip(event.utm.source, maxValue),
        medium: clip(event.utm.medium, maxValue),
        campaign: clip(event.utm.campaign, maxValue),
        term: clip(event.utm.term, maxValue),
        content: clip(event.utm.content, maxValue),
        gclid: whole(event.click_ids.gclid),
        gbraid: whole(event.click_ids.gbraid),
        wbraid: whole(event.click_ids.wbraid),
        dclid: whole(event.click_ids.dclid),
      }),
    },
  };
}

/** An identifier that was cut identifies nothing. */
function whole(id: string | undefined): string | undefined {
  return id !== undefined && id.length <= maxValue ? id : undefined;
}
