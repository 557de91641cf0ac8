import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import type { Value } from "./body.ts";

/** Of `click_events` and the view `clicks`, the same in every store; in the order of `clickValues`. */
export const clickColumns = [
  ..."event_id edge edge_run edge_seq ts workspace_id link_id domain slug destination status method".split(
    " ",
  ),
  ..."country region city asn user_agent client_hints referrer_domain language visitor".split(" "),
  ..."bot prefetch qr variant utm_source utm_medium utm_campaign utm_term utm_content click_ids gpc".split(
    " ",
  ),
  ..."browser browser_version os os_version device referrer_channel is_bot".split(" "),
];

export function clickValues(event: ClickEvent, enrichment: Enrichment): readonly Value[] {
  return [
    event.event_id,
    event.edge,
    event.edge_run,
    event.edge_seq,
    event.ts,
    event.workspace_id,
    event.link_id,
    event.domain,
    event.slug,
    event.destination,
    event.status,
    event.method,
    event.country,
    event.region,
    event.city,
    event.asn,
    event.user_agent,
    event.client_hints,
    event.referrer_domain,
    event.language,
    event.visitor,
    event.bot,
    event.prefetch,
    event.qr,
    event.variant,
    event.utm.source,
    event.utm.medium,
    event.utm.campaign,
    event.utm.term,
    event.utm.content,
    event.click_ids,
    event.gpc,
    enrichment.browser,
    enrichment.browser_version,
    enrichment.os,
    enrichment.os_version,
    enrichment.device,
    enrichment.referrer_channel,
    enrichment.is_bot,
  ];
}
