import { encodeEnriched } from "@sluice/click-event/encode.ts";
import { createCover } from "@sluice/click-store/cover.ts";
import { type Erasures, openErasures } from "@sluice/click-store/erasures.ts";
import { type ClickCursor, openStoredClicks } from "@sluice/click-store/stored-clicks.ts";
import type { Outgoing } from "@sluice/link-store/deliveries/delivery-store.ts";
import { outgoingClick } from "@sluice/link-store/deliveries/outgoing-click.ts";
import { wants } from "@sluice/link-store/targets/click-filter.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";

import type { Context } from "../context.ts";
import type { TimeRange } from "../time-range.ts";

/** With their texts some two megabytes, and a tenth of a second of Postgres. */
export const pageSize = 1_000;
const timeoutMs = 60_000;

/** Stored clicks of a time that a target wants, as they were fanned out, page by page; without what was erased. */
export async function* wantedClicks(
  { addresses, progress }: Context,
  { workspaceId, filter }: Target,
  range: TimeRange,
  limit: number,
): AsyncGenerator<readonly Outgoing[]> {
  const url = await addresses.clickStoreUrl();
  await using erasures = await openErasures(url);
  await using stored = await openStoredClicks(url);
  const [linkId, ...otherLinks] = filter.linkIds ?? [];
  // Of one link a store finds the clicks faster; those of several are picked out here.
  const scope = { workspaceId, ...(linkId !== undefined && otherLinks.length === 0 && { linkId }) };
  const cover = createCover(await erasures.list(AbortSignal.timeout(timeoutMs)));
  using shown = progress(await countClicks(erasures, scope, range));
  for (let after: ClickCursor | undefined; ;) {
    const page = { ...range, ...scope, limit, ...(after && { after }) };
    const { clicks, next } = await stored.read(page, AbortSignal.timeout(timeoutMs));
    yield clicks
      .filter(({ event, enrichment }) => {
        const { is_bot } = enrichment;
        return !cover.takes(event) && wants(filter, { ...event, is_bot });
      })
      .map(({ event, enrichment }) =>
        outgoingClick(event, Buffer.from(encodeEnriched(event, enrichment)).toString()),
      );
    shown.advance(clicks.length);
    after = next;
    if (after === undefined) return;
  }
}

async function countClicks(
  erasures: Erasures,
  scope: { readonly workspaceId: number; readonly linkId?: number },
  { fromTs, toTs }: TimeRange,
): Promise<number> {
  const upTo = (ts: number) => erasures.count([{ ...scope, upTo: ts - 1 }], AbortSignal.timeout(timeoutMs));
  return (await upTo(toTs)) - (await upTo(fromTs));
}
