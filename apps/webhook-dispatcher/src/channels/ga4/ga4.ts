import { z } from "zod";
import type { HttpReply } from "../../http/http-client.ts";
import { all, type Asked, jsonOf, readGenerally, tellable } from "../answers.ts";
import { batchesOf, type Encoded } from "../batches.ts";
import type { Channel, OpenTarget, Plan, PlannedRequest, Reading } from "../channel.ts";
import { type Click, sift, wrongAge } from "../clicks.ts";
import { parseSettings } from "../settings.ts";
import { hostOf, post } from "../vendor.ts";
import { contextOf, eventOf } from "./event.ts";
import { Ga4Settings } from "./settings.ts";

const limits = { maxCount: 25, maxBytes: 130_000 } as const;

/** Older events are taken as being this old. */
const maxAgeMs = 72 * 3_600_000;

const baseUrls = { global: "https://www.google-analytics.com", eu: "https://region1.google-analytics.com" };

/**
 * Google Analytics 4 by its Measurement Protocol. It answers 2xx to whatever it has received, so that `delivered` says no
 * more; `test` asks its validator. `baseUrl` is for tests.
 */
export function createGa4({ baseUrl }: { readonly baseUrl?: string } = {}): Channel {
  return {
    deduplicates: false,
    open({ settings }) {
      const parsed = parseSettings(Ga4Settings, settings);
      return openGa4(parsed, baseUrl ?? baseUrls[parsed.region]);
    },
  };
}

function openGa4(settings: Ga4Settings, baseUrl: string): OpenTarget {
  const query = new URLSearchParams({
    measurement_id: settings.measurement_id,
    api_secret: settings.api_secret,
  }).toString();
  const asked = { deliveries: [], secrets: [settings.api_secret] };
  return {
    host: hostOf(baseUrl),
    // The clicks of a visitor come together only in large batches.
    maxEvents: 1_000,
    plan(deliveries, now): Plan {
      const { clicks, skipped } = sift(deliveries, (click) => {
        if (click.event.visitor === "") return "no-identifier";
        return wrongAge(click, now, maxAgeMs);
      });
      const requests = [...byContext(clicks)].flatMap(([context, together]) => {
        const events = together.map((of): Encoded<Click> => {
          return { of, text: JSON.stringify(eventOf(settings.event_name, of, now)) };
        });
        const maxBytes = limits.maxBytes - Buffer.byteLength(body(context, []));
        return batchesOf(events, { ...limits, maxBytes }).map((batch): PlannedRequest => {
          const inIt = batch.map(({ of }) => of.delivery);
          return {
            deliveries: inIt,
            request: post(`${baseUrl}/mp/collect?${query}`, {}, body(context, batch)),
            read: (reply, at) => read(reply, { ...asked, deliveries: inIt }, at),
          };
        });
      });
      return { requests, skipped };
    },
    test: (now): PlannedRequest => ({
      deliveries: [],
      request: post(
        `${baseUrl}/debug/mp/collect?${query}`,
        {},
        JSON.stringify(testOf(settings.event_name, now)),
      ),
      read: (reply, at) => readTest(reply, asked, at),
    }),
  };
}

/** Where a visitor is and with what is the same for all clicks under one hash, or they go apart. */
function byContext(clicks: readonly Click[]): Map<string, Click[]> {
  return Map.groupBy(clicks, (click) => JSON.stringify(contextOf(click)));
}

function body(context: string, events: readonly Encoded<Click>[]): string {
  return `${context.slice(0, -1)},"events":[${events.map(({ text }) => text).join(",")}]}`;
}

function testOf(name: string, now: number): object {
  return {
    client_id: "1.1",
    validation_behavior: "ENFORCE_RECOMMENDATIONS",
    events: [{ name, timestamp_micros: now * 1_000, params: { engagement_time_msec: 1 } }],
  };
}

function read(reply: HttpReply, asked: Asked, now: number): Reading {
  const general = readGenerally(reply, asked, now);
  if (general !== undefined || reply.kind === "failure") return general ?? all(asked, delivered);
  return reply.status < 300
    ? all(asked, delivered)
    : all(asked, { kind: "refused", code: "refused", detail: `HTTP ${reply.status}` });
}

const delivered = { kind: "delivered" } as const;

/** It stores nothing, and checks neither the measurement ID nor the secret. */
function readTest(reply: HttpReply, asked: Asked, now: number): Reading {
  const reading = read(reply, asked, now);
  if (reply.kind === "failure" || reading.verdicts[0]?.kind !== "delivered") return reading;
  const { data } = Validation.safeParse(jsonOf(reply.body));
  if (data === undefined) return all(asked, { kind: "failed", code: "invalid-answer" });
  const [message] = data.validationMessages;
  return message === undefined
    ? reading
    : all(asked, { kind: "refused", code: "refused", detail: tellable(message.description, asked) });
}

const Validation = z.object({ validationMessages: z.array(z.object({ description: z.string() })) });
