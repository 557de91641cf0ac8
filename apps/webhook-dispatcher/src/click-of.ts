import { decodeEnriched, type EnrichedClick } from "@sluice/click-event/decode-enriched.ts";
import type { Undecodable } from "@sluice/click-event/decode.ts";
import type { Outgoing } from "@sluice/link-store/deliveries/delivery-store.ts";

/** Read once, however many targets an event is for: reading costs as much as signing. */
const clicks = new WeakMap<Outgoing, EnrichedClick | Undecodable>();

/** The click that an event of type `link.clicked` is about. */
export function clickOf(event: Outgoing): EnrichedClick | Undecodable {
  let click = clicks.get(event);
  if (click === undefined) {
    click = decodeEnriched(event.body);
    clicks.set(event, click);
  }
  return click;
}

/** For who has read it already. */
export function knownClick(event: Outgoing, click: EnrichedClick): Outgoing {
  clicks.set(event, click);
  return event;
}
