import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Outgoing } from "./delivery-store.ts";

/** A click as it is delivered; `body` is its record of the fan-out. */
export function outgoingClick(event: ClickEvent, body: string): Outgoing {
  return {
    id: event.event_id,
    type: "link.clicked",
    workspaceId: event.workspace_id,
    ts: event.ts,
    linkId: event.link_id,
    ...(event.visitor !== "" && { visitor: event.visitor }),
    body,
  };
}
