import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { DeliveryStore, NewParked } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";

export interface DisableOptions {
  /** Resolves to whether it was this call that disabled it. */
  readonly disable: (target: Target["id"], reason: string, now: number) => Promise<boolean>;
  readonly park: DeliveryStore["park"];
  /** Those that may be told: the workspace's other endpoints, and the operator. */
  readonly audience: (target: Target) => readonly Target[];
}

/**
 * Disables a target and has the others told of it, once, however many dispatchers find that it has to be. Killed in
 * between, nobody is told, which is better than twice: `sluice endpoint list` shows it.
 */
export function createDisabling({ disable, park, audience }: DisableOptions) {
  return async (target: Target, reason: string, now: number): Promise<void> => {
    if (!(await disable(target.id, reason, now))) return;
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
    const rows = audience(target).map(({ id }): NewParked => ({
      target: id,
      event,
      made: 0,
      replayed: false,
      dueAt: now,
    }));
    if (rows.length > 0) await park(rows, now);
  };
}
