import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Delivery } from "../delivery.ts";
import { isUnavailable } from "../store-errors.ts";

/** Leaves out what an owner before has parked, of what is read again because that owner did not get to commit it. */
export type WithoutParked = (epoch: number, deliveries: readonly Delivery[]) => Promise<readonly Delivery[]>;

/** As large as a batch may be: an owner has had one that was not committed. */
const lookedUp = 10_000;

/**
 * Asks Postgres about the first of each epoch; that may be other records than those read again where several owners' come
 * together, and those are sent again. So is what was answered and not yet committed, and what was parked and is delivered
 * by the time it is read again: a batch for each owner that was killed, at most, always under the same ids. While Postgres
 * is away nothing is left out, for sending waits for it no longer than it must.
 */
export function createWithoutParked({ waiting }: Pick<DeliveryStore, "waiting">): WithoutParked {
  let current: number | undefined;
  let left = 0;
  return async (epoch, deliveries) => {
    if (epoch !== current) {
      current = epoch;
      left = lookedUp;
    }
    const asked = deliveries.slice(0, left);
    if (asked.length === 0) return deliveries;
    left -= asked.length;
    try {
      const there = await waiting(asked.map(({ target, event }) => ({ target, eventId: event.id })));
      return deliveries.filter(({ target, event }) => !there.has(`${target} ${event.id}`));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return deliveries;
    }
  };
}
