import { randomUUID } from "node:crypto";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { DeliveryStore, NewParked } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";

export interface DisableOptions {
  /** Resolves to whether it was this call that disabled it. */
  readonly disable: (target: Target["id"], reason: string, now: number) => Promise<boolean>;
  readonly store: Pick<DeliveryStore, "park" | "release" | "settle">;
  /** Those that may be told: the workspace's other endpoints, and the operator. */
  readonly audience: (target: Target) => readonly Target[];
}

/** Whoever is killed before the target is disabled has the others told a minute later: it fails, and will be disabled soon. */
const heldMs = 60_000;

/**
 * Disables a target and has the others told of it, once, however many dispatchers find that it has to be. The notices are
 * kept before that under a lease, so that they outlive a crash and a Postgres that goes away in between.
 */
export function createDisabling({ disable, store, audience }: DisableOptions) {
  return async (target: Target, reason: string, now: number): Promise<void> => {
    const event = {
      id: uuidv7(now),
      type: "endpoint.disabled",
      workspaceId: target.workspaceId,
      ts: now,
      body: JSON.stringify({
        version: 1,
        endpoint_id: target.id,
        description: target.description,
        reason,
        disabled_at: new Date(now).toISOString(),
      }),
    } as const;
    const lease = randomUUID();
    const row = { event, made: 0, replayed: false, dueAt: now + heldMs, lease };
    const rows = audience(target).map(({ id }): NewParked => ({ ...row, target: id }));
    if (rows.length > 0) await store.park(rows, now);
    const isOurs = await disable(target.id, reason, now);
    if (rows.length === 0) return;
    const held = rows.map(({ target: id }) => ({ target: id, eventId: event.id, lease }));
    if (isOurs) await store.release(held, now);
    else
      await store.settle(
        held.map((each) => ({ ...each, kind: "done" })),
        now,
      );
  };
}
