import { factsOf, known } from "../click-facts.ts";
import type { Click } from "../clicks.ts";

/** What each macro stands for; a macro whose value is not known is replaced by nothing. */
export function macroValues(click: Click): Readonly<Record<string, string>> {
  const { event } = click;
  const { qr, variant, ...facts } = factsOf(click);
  return {
    ...facts,
    ...known(event.click_ids),
    click_id: event.event_id,
    ts: String(event.ts),
    domain: event.domain,
    slug: event.slug,
    visitor: event.visitor,
    qr: qr ? "1" : "0",
    variant: String(variant),
  };
}
