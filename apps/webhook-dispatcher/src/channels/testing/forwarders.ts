import type { Channel, OpenTarget } from "../channel.ts";
import { createGa4 } from "../ga4/ga4.ts";
import { ga4Credentials, openGa4StandIn } from "../ga4/stand-in.ts";
import { createKlaviyo } from "../klaviyo/klaviyo.ts";
import { klaviyoKey, openKlaviyoStandIn } from "../klaviyo/stand-in.ts";
import { createMeta } from "../meta/meta.ts";
import { metaAppSecret, metaCredentials, openMetaStandIn } from "../meta/stand-in.ts";
import { createMixpanel } from "../mixpanel/mixpanel.ts";
import { mixpanelToken, openMixpanelStandIn } from "../mixpanel/stand-in.ts";
import { sampleTarget } from "./drive.ts";
import type { StandIn } from "./stand-in-server.ts";

interface Forwarder {
  readonly kind: "ga4" | "mixpanel" | "klaviyo" | "meta";
  readonly create: (options?: { readonly baseUrl?: string }) => Channel;
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly openStandIn: () => Promise<StandIn>;
}

export const forwarders: readonly Forwarder[] = [
  {
    kind: "ga4",
    create: createGa4,
    settings: ga4Credentials,
    secrets: [ga4Credentials.api_secret],
    openStandIn: openGa4StandIn,
  },
  {
    kind: "mixpanel",
    create: createMixpanel,
    settings: { project_token: mixpanelToken },
    secrets: [mixpanelToken],
    openStandIn: openMixpanelStandIn,
  },
  {
    kind: "klaviyo",
    create: createKlaviyo,
    settings: { api_key: klaviyoKey, identifier: "visitor" },
    secrets: [klaviyoKey],
    openStandIn: openKlaviyoStandIn,
  },
  {
    kind: "meta",
    create: createMeta,
    settings: { ...metaCredentials, app_secret: metaAppSecret },
    secrets: [metaCredentials.access_token, metaAppSecret],
    openStandIn: openMetaStandIn,
  },
];

/** A target of that kind, ready to plan; against the vendor itself without `baseUrl`. */
export function openForwarder({ kind, create, settings }: Forwarder, baseUrl?: string): OpenTarget {
  return create(baseUrl === undefined ? {} : { baseUrl }).open(sampleTarget(kind, { settings }));
}
