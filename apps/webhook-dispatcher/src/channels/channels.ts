import type { TargetKind } from "@sluice/link-store/targets/target.ts";
import type { Channel } from "./channel.ts";
import { createGa4 } from "./ga4/ga4.ts";
import { createKlaviyo } from "./klaviyo/klaviyo.ts";
import { createMeta } from "./meta/meta.ts";
import { createMixpanel } from "./mixpanel/mixpanel.ts";
import { pixel } from "./pixel/pixel.ts";
import { webhook } from "./webhook/webhook.ts";

export type Channels = Readonly<Record<TargetKind, Channel>>;

/** All there are: another one is a folder and a line here. */
export function createChannels(): Channels {
  return {
    webhook,
    pixel,
    ga4: createGa4(),
    mixpanel: createMixpanel(),
    klaviyo: createKlaviyo(),
    meta: createMeta(),
  };
}
