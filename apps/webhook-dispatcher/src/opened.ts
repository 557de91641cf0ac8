import type { AttemptLog } from "@sluice/click-store/attempts.ts";
import type { Erasures } from "@sluice/click-store/erasures.ts";
import type { EventLog } from "@sluice/event-log/event-log.ts";
import type { ChangeFeed } from "@sluice/link-store/change-feed.ts";
import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetStore } from "@sluice/link-store/targets/target-store.ts";
import type { Channels } from "./channels/channels.ts";
import type { HttpClient } from "./http/http-client.ts";

/** What `main.ts` has opened. */
export interface Opened {
  /** The one with the topic of what is fanned out. Rejects while it cannot be reached, which stops no retries. */
  readonly openEvents: () => Promise<EventLog>;
  readonly deliveries: DeliveryStore;
  readonly targets: Pick<TargetStore, "sendable" | "disable" | "claimTests" | "finishTest">;
  readonly changes: ChangeFeed;
  readonly channels: Channels;
  readonly attempts: AttemptLog;
  readonly erasures: Pick<Erasures, "list">;
  readonly http: HttpClient;
}
