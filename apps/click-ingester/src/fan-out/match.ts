import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import { encodeEnriched } from "@sluice/click-event/encode.ts";
import type { Enricher, Enrichment } from "@sluice/click-event/enrich.ts";
import { peekWorkspace } from "@sluice/click-event/peek.ts";
import type { Cover } from "@sluice/click-store/cover.ts";
import type { NewRecord } from "@sluice/event-log/event-log.ts";
import { type Interest, isWanted } from "./interests.ts";

/**
 * `unsubscribed`: nobody in the workspace wants clicks. `unwanted`: not this one. `undecodable`: a dead letter, which the
 * store loop keeps. `no-click`: numbers that an edge used up. `erased`: it is to be forgotten.
 */
export type SkipReason = "unsubscribed" | "unwanted" | "undecodable" | "no-click" | "erased";

export interface MatchOptions {
  readonly interestOf: (workspaceId: number) => Interest | undefined;
  readonly enrich: Enricher;
  readonly erased: () => Cover;
  readonly live: LiveClicks;
  /** Mark what it gives as no news. */
  readonly replayed?: boolean;
}

/** The live feed, as far as clicks are offered to it. */
export interface LiveClicks {
  /** Whether anybody watches the workspace or a link of it. */
  isWatched(workspaceId: number): boolean;
  /** Takes a click of a workspace that is watched, or drops it; never waits and never throws. */
  offer(event: ClickEvent, enrichment: Enrichment): void;
}

export type Match = (value: Uint8Array) => NewRecord | SkipReason;

/** Gives for each record of `clicks` the one of `clicks.fanout` that it becomes, or why it becomes none. */
export function createMatch({ interestOf, enrich, erased, live, replayed }: MatchOptions): Match {
  return (value) => {
    const workspaceId = peekWorkspace(value);
    if (workspaceId !== undefined && interestOf(workspaceId) === undefined && !live.isWatched(workspaceId)) {
      return "unsubscribed";
    }
    const decoded = decodeRecord(value);
    if (decoded.kind === "undecodable") return "undecodable";
    if (decoded.kind === "refused-range") return "no-click";
    const { event } = decoded;
    if (erased().takes(event)) return "erased";
    const enrichment = enrich(event);
    if (live.isWatched(event.workspace_id)) live.offer(event, enrichment);
    const interest = interestOf(event.workspace_id);
    if (interest === undefined) return "unsubscribed";
    if (!isWanted(interest, event, enrichment)) return "unwanted";
    // By the event, so that one that is appended twice comes to the same dispatcher, and all of them have work.
    return { key: event.event_id, value: encodeEnriched(event, enrichment, replayed) };
  };
}
