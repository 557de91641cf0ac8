import type { EnrichedClick } from "@sluice/click-event/decode-enriched.ts";
import { decodeEnriched } from "@sluice/click-event/decode-enriched.ts";
import { outgoingClick } from "@sluice/link-store/deliveries/outgoing-click.ts";
import { wants } from "@sluice/link-store/targets/click-filter.ts";
import { knownClick } from "../click-of.ts";
import type { Delivery } from "../delivery.ts";
import type { KnownErasures } from "../erasures/follow-erasures.ts";
import type { KnownTargets } from "../targets/known-targets.ts";

/** Why a record of the topic is for nobody. `undecodable`: a dead letter of the ingester's, or not ours. `erased`: after it was fanned out. */
export const unmatchedReasons = ["undecodable", "unwanted", "erased"] as const;
export type UnmatchedReason = (typeof unmatchedReasons)[number];

export type Match = (value: Uint8Array) => readonly Delivery[] | UnmatchedReason;

/** Gives for each record of `clicks.fanout` what it becomes: a delivery for each target that wants the click. */
export function createMatch(targets: Pick<KnownTargets, "in">, erased: Pick<KnownErasures, "takes">): Match {
  return (value) => {
    const click = decodeEnriched(value);
    if (click.kind === "undecodable") return "undecodable";
    const { workspace_id: workspaceId, link_id: linkId, visitor, ts } = click.event;
    if (erased.takes({ workspaceId, linkId, visitor, ts })) return "erased";
    const wanting = targets
      .in(click.event.workspace_id)
      .filter(
        ({ target }) => target.eventTypes.includes("link.clicked") && wants(target.filter, filterable(click)),
      );
    if (wanting.length === 0) return "unwanted";
    const body = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
    const event = knownClick(outgoingClick(click.event, body), click);
    return wanting.map(({ target }) => ({
      target: target.id,
      event,
      made: 0,
      replayed: click.replayed === true,
    }));
  };
}

function filterable({ event, enrichment }: EnrichedClick) {
  const { link_id, domain, country, gpc } = event;
  return { link_id, domain, country, gpc, is_bot: enrichment.is_bot };
}
