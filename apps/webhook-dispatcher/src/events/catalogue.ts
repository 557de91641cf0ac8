import type { Outgoing } from "@sluice/link-store/deliveries/delivery-store.ts";
import { z } from "zod";
import { LinkClicked } from "./link-clicked.ts";

/** Why nothing is sent to an endpoint any more. */
const EndpointDisabled = z.object({
  version: z.literal(1),
  endpoint_id: z.string().describe("such as ep_7"),
  description: z.string().describe("what its owner calls it"),
  reason: z.string().describe("in words, such as: it answered 410 Gone"),
  disabled_at: z.iso.datetime().describe("since when nothing is sent to it"),
});

const EndpointTest = z.object({
  version: z.literal(1),
  endpoint_id: z.string().describe("the endpoint that is tested, such as ep_7"),
});

export interface EventType {
  readonly type: Outgoing["type"];
  /** Of `data`. What breaks a reader is a new one; a field more is not. */
  readonly version: number;
  /** When it is sent. */
  readonly when: string;
  readonly data: z.ZodObject;
  readonly example: Readonly<Record<string, unknown>>;
}

/** All that is ever sent to an endpoint. docs/events.md is written from it. */
export const catalogue: readonly EventType[] = [
  {
    type: "link.clicked",
    version: 1,
    when: "A short link was followed. Clicks that no person made, and those of visitors who asked not to be tracked, are sent only to endpoints that want them.",
    data: LinkClicked,
    example: {
      version: 1,
      click_id: "01976f5c-8a10-7c3e-9d2b-5f6a7b8c9d0e",
      link_id: 42,
      domain: "go.example.com",
      slug: "summer-sale",
      destination: "https://shop.example.com/campaign/summer?utm_source=newsletter",
      status: 302,
      method: "GET",
      country: "DE",
      region: "Hesse",
      city: "Frankfurt am Main",
      browser: "Firefox",
      browser_version: "141.0",
      os: "Windows",
      os_version: "10",
      device: "desktop",
      user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:141.0) Gecko/20100101 Firefox/141.0",
      language: "de-DE",
      referrer_domain: "www.google.com",
      referrer_channel: "search",
      visitor: "0123456789abcdef0123456789abcdef",
      is_bot: false,
      bot_reasons: [],
      prefetch: false,
      qr: false,
      variant: 0,
      gpc: false,
      utm: { source: "newsletter", medium: "", campaign: "summer", term: "", content: "" },
      click_ids: { gclid: "EAIaIQobChMI" },
      clipped: false,
    },
  },
  {
    type: "endpoint.disabled",
    version: 1,
    when: "Sent to the other endpoints of a workspace when nothing more is sent to one of them.",
    data: EndpointDisabled,
    example: {
      version: 1,
      endpoint_id: "ep_7",
      description: "orders",
      reason: "no delivery has succeeded for five days",
      disabled_at: "2026-06-01T12:00:00.000Z",
    },
  },
  {
    type: "endpoint.test",
    version: 1,
    when: "Somebody tests an endpoint. One whose test has not succeeded is sent nothing else.",
    data: EndpointTest,
    example: { version: 1, endpoint_id: "ep_7" },
  },
];
