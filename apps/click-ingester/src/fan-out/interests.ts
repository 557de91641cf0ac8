import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import type { ClickSubscription } from "@sluice/link-store/subscription-store.ts";

/** Which clicks of a workspace anybody wants, whoever it is; by each of the four kinds that a click can be of. */
export type Interest = readonly Links[];
type Links = "all" | ReadonlySet<number>;

/** The two bits of a click's kind. */
const [notAPersons, optedOut] = [1, 2];
const kinds = [0, notAPersons, optedOut, notAPersons | optedOut];

/** By workspace. One that is not in it wants nothing. */
export function interestsOf(subscriptions: readonly ClickSubscription[]): ReadonlyMap<number, Interest> {
  const byWorkspace = Map.groupBy(subscriptions, ({ workspaceId }) => workspaceId);
  return new Map(
    [...byWorkspace].map(([workspaceId, all]) => [
      workspaceId,
      kinds.map((kind) => linksOf(all.filter((subscription) => takes(subscription, kind)))),
    ]),
  );
}

/** As many steps whatever there are subscriptions. */
export function isWanted(
  interest: Interest,
  { link_id, gpc }: Pick<ClickEvent, "link_id" | "gpc">,
  { is_bot }: Pick<Enrichment, "is_bot">,
): boolean {
  const links = interest[(is_bot ? notAPersons : 0) | (gpc ? optedOut : 0)];
  return links === "all" || links?.has(link_id) === true;
}

function takes({ includeBots, includeOptedOut }: ClickSubscription, kind: number): boolean {
  return (includeBots || (kind & notAPersons) === 0) && (includeOptedOut || (kind & optedOut) === 0);
}

function linksOf(subscriptions: readonly ClickSubscription[]): Links {
  if (subscriptions.some(({ linkIds }) => linkIds === undefined)) return "all";
  return new Set(subscriptions.flatMap(({ linkIds = [] }) => linkIds));
}
