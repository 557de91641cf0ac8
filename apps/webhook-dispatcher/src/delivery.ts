import type { TargetId } from "@sluice/link-store/targets/target.ts";
import type { Outgoing } from "@sluice/link-store/deliveries/delivery-store.ts";

/** One event for one target: what a lane carries. */
export interface Delivery {
  readonly target: TargetId;
  readonly event: Outgoing;
  /** Attempts made before; 0 for a first one. */
  readonly made: number;
  /** From a replay or a backfill: vendors are told so, that no automation fires. */
  readonly replayed: boolean;
}
