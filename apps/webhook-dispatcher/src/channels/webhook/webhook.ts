import { Headers } from "@sluice/link-store/targets/headers.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";
import type { Delivery } from "../../delivery.ts";
import type { Channel, OpenTarget, Plan, PlannedRequest } from "../channel.ts";
import { ChannelSettingsError } from "../settings-error.ts";
import { hostOf } from "../vendor.ts";
import { payloadOf } from "./payload.ts";
import { readAnswer } from "./read.ts";
import { keyOf, messageId, sign } from "./sign.ts";

/** Customers' endpoints: one event a request, signed as Standard Webhooks 1.0 says. */
export const webhook: Channel = {
  // By the id of a message, which is the same each time.
  deduplicates: true,
  open: openWebhook,
};

function openWebhook({ id: target, url, headers, secrets, allowPrivate }: Target): OpenTarget {
  const own = ownHeaders(headers);
  const keys = secrets.map(keyOf).filter((key) => key !== undefined);
  if (keys.length === 0 || keys.length < secrets.length) {
    throw wrong("secrets", "whsec_ and base64 of 24 to 64 bytes, one or two", `${secrets.length}`);
  }
  const parsed = URL.parse(url);
  if (
    parsed === null ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username !== "" ||
    parsed.password !== ""
  ) {
    throw wrong("url", "an https address without a user", `a text of ${url.length} characters`);
  }

  function request(delivery: Delivery, body: Uint8Array, now: number): PlannedRequest {
    const id = messageId(delivery.event.id, target);
    const timestamp = Math.floor(now / 1_000);
    return {
      deliveries: [delivery],
      request: {
        method: "POST",
        url,
        headers: {
          ...own,
          "content-type": "application/json",
          "webhook-id": id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": sign(keys, id, timestamp, body),
        },
        body,
        allowPrivate,
      },
      read: (reply, at) => readAnswer(reply, at, allowPrivate),
    };
  }

  return {
    host: hostOf(url),
    maxEvents: 1,
    plan(deliveries, now): Plan {
      const requests: PlannedRequest[] = [];
      const skipped: { delivery: Delivery; reason: Plan["skipped"][number]["reason"] }[] = [];
      for (const delivery of deliveries) {
        const payload = payloadOf(delivery.event);
        if (typeof payload === "string") skipped.push({ delivery, reason: payload });
        else requests.push(request(delivery, payload, now));
      }
      return { requests, skipped };
    },
  };
}

function wrong(field: string, takes: string, got: string): ChannelSettingsError {
  return new ChannelSettingsError([{ field, takes, got }]);
}

/** The customer's own, by the rule by which they were stored; a table may have been written past it. */
function ownHeaders(headers: Target["headers"]): Target["headers"] {
  const { success, data, error } = Headers.safeParse(headers);
  if (success) return data;
  const [{ path, message } = { path: [], message: "headers" }] = error.issues;
  throw wrong(["headers", ...path].join("."), message, "another");
}
