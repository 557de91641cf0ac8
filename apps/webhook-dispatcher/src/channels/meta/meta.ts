import { createHmac } from "node:crypto";
import type { Channel, OpenTarget, Plan, PlannedRequest, SkipReason } from "../channel.ts";
import { batchesOf } from "../batches.ts";
import { type Click, sift, wrongAge } from "../clicks.ts";
import { parseSettings } from "../settings.ts";
import { get, hostOf, post } from "../vendor.ts";
import { eventOf } from "./event.ts";
import { read, readTest } from "./read.ts";
import { MetaSettings } from "./settings.ts";

/** A batch of over a megabyte is refused [as other forwarders found]; less the few bytes around its events. */
const limits = { maxCount: 1_000, maxBytes: 1_000_000 - 200 } as const;

/** One that is older spoils its batch. A minute less, for the time on the way. */
const maxAgeMs = 7 * 86_400_000 - 60_000;

const version = "v25.0";

/**
 * Meta's Conversions API. The token goes in a header, where no log of addresses finds it: the documentation shows it as a
 * parameter, but the Graph API takes it as a bearer token, as its clients do (restfb/restfb#1107, huandu/facebook#205).
 * `baseUrl` is for tests.
 */
export function createMeta({
  baseUrl = "https://graph.facebook.com",
}: { readonly baseUrl?: string } = {}): Channel {
  return {
    deduplicates: true,
    open: ({ settings }) => openMeta(parseSettings(MetaSettings, settings), baseUrl),
  };
}

function openMeta(
  { pixel_id, access_token, app_secret, event_name }: MetaSettings,
  baseUrl: string,
): OpenTarget {
  const url = `${baseUrl}/${version}/${pixel_id}`;
  const headers = { authorization: `Bearer ${access_token}` };
  const proof =
    app_secret === undefined
      ? undefined
      : createHmac("sha256", app_secret).update(access_token).digest("hex");
  const secrets = [access_token, app_secret, proof].filter((secret) => secret !== undefined);
  const asked = { deliveries: [], secrets };
  const last = proof === undefined ? "" : `,"appsecret_proof":"${proof}"`;
  return {
    host: hostOf(baseUrl),
    maxEvents: limits.maxCount,
    plan(deliveries, now): Plan {
      const { clicks, skipped } = sift(deliveries, (click) => against(click, now));
      const events = clicks.map((of) => ({ of, text: JSON.stringify(eventOf(event_name, of, now)) }));
      const requests = batchesOf(events, limits).map((batch): PlannedRequest => {
        const inIt = batch.map(({ of }) => of.delivery);
        const data = batch.map(({ text }) => text).join(",");
        return {
          deliveries: inIt,
          request: post(`${url}/events`, headers, `{"data":[${data}]${last}}`),
          read: (reply, at) => read(reply, { ...asked, deliveries: inIt }, at),
        };
      });
      return { requests, skipped };
    },
    test: (): PlannedRequest => ({
      deliveries: [],
      request: get(`${url}?fields=id${proof === undefined ? "" : `&appsecret_proof=${proof}`}`, headers),
      read: (reply, at) => readTest(reply, asked, at),
    }),
  };
}

/** A user agent and a country alone match nobody, and make the event invalid. */
function against(click: Click, now: number): SkipReason | undefined {
  const { visitor, click_ids, user_agent } = click.event;
  const matchable = visitor !== "" || (click_ids.fbclid ?? "") !== "";
  return matchable && user_agent !== "" ? wrongAge(click, now, maxAgeMs) : "no-identifier";
}
