import { clip } from "@sluice/click-event/clip.ts";
import { factsOf, known } from "../click-facts.ts";
import type { Click } from "../clicks.ts";

/** Longer values are cut by the receiver, in the middle of a character too. */
const maxValue = 255;

/** What Mixpanel has a property of its own for. */
const ownNames: Readonly<Record<string, string>> = {
  short_url: "$current_url",
  referrer_domain: "$referring_domain",
  browser: "$browser",
  browser_version: "$browser_version",
  os: "$os",
  os_version: "$os_version",
  city: "$city",
  region: "$region",
  country: "mp_country_code",
};

/**
 * One event. Repeats are told by event, time, `distinct_id` and `$insert_id` together, so that all four are the click's
 * alone. A visitor is an anonymous device; a click without one is nobody's.
 */
export function eventOf(name: string, click: Click) {
  const { event } = click;
  const facts = Object.entries({ ...factsOf(click), ...known(event.click_ids) });
  return {
    event: name,
    properties: {
      ...Object.fromEntries(
        facts.map(([fact, value]) => [
          ownNames[fact] ?? fact,
          typeof value === "string" ? clip(value, maxValue) : value,
        ]),
      ),
      time: event.ts,
      distinct_id: event.visitor === "" ? "" : `$device:${event.visitor}`,
      ...known({ $device_id: event.visitor }),
      $insert_id: event.event_id,
    },
  };
}
