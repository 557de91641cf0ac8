import type { DeadDelivery, DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";

import type { Context } from "../context.ts";
import type { TimeRange } from "../time-range.ts";

/** The most that the store gives at once. */
const pageSize = 1_000;

/** What is not tried any more for a target, by its events' times, the last to die first. */
export async function* deadOf(
  deliveries: DeliveryStore,
  target: TargetId,
  { fromTs, toTs }: TimeRange,
): AsyncGenerator<DeadDelivery> {
  for (let before: DeadDelivery | undefined; ;) {
    const page = await deliveries.dead(target, { limit: pageSize, ...(before && { before }) });
    for (const row of page) if (row.ts >= fromTs && row.ts < toTs) yield row;
    before = page.at(-1);
    if (page.length < pageSize) return;
  }
}

export async function countDead(
  deliveries: DeliveryStore,
  target: TargetId,
  range: TimeRange,
): Promise<number> {
  let count = 0;
  for await (const _ of deadOf(deliveries, target, range)) count += 1;
  return count;
}

/** Makes them due again, batch by batch. Resolves to how many. */
export async function redoDead(
  { progress }: Context,
  deliveries: DeliveryStore,
  target: TargetId,
  range: TimeRange,
): Promise<number> {
  const [standing] = await deliveries.standings({ target, limit: 1 });
  using shown = progress(standing?.dead ?? 0);
  for (let total = 0; ;) {
    const count = await deliveries.redo(target, range, Date.now());
    if (count === 0) return total;
    total += count;
    shown.advance(count);
  }
}
