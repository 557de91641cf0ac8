import { createHash } from "node:crypto";
import { factsOf, known } from "../click-facts.ts";
import { type Click, notAfter } from "../clicks.ts";

/**
 * One event of a website. Repeats are told by `event_id` and `event_name`. There is no address of the visitor to send;
 * what can be matched is the click id, and the visitor's hash where the site sends the same.
 */
export function eventOf(name: string, click: Click, now: number) {
  const { event } = click;
  const { destination, link_id, channel, utm_source, utm_medium, utm_campaign, short_url } = factsOf(click);
  const { fbclid = "" } = event.click_ids;
  return {
    event_name: name,
    event_time: Math.floor(notAfter(now, click) / 1_000),
    event_id: event.event_id,
    action_source: "website",
    event_source_url: short_url,
    user_data: {
      client_user_agent: event.user_agent,
      ...(event.visitor === "" ? {} : { external_id: [sha256(event.visitor)] }),
      ...(event.country === "" ? {} : { country: [sha256(event.country.toLowerCase())] }),
      // 1: as a cookie of a domain with one label below its suffix would say.
      ...known({ fbc: fbclid === "" ? "" : `fb.1.${event.ts}.${fbclid}` }),
    },
    custom_data: { destination, link_id, channel, ...known({ utm_source, utm_medium, utm_campaign }) },
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
