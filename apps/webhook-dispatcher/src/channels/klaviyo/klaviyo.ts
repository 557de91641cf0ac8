import { z } from "zod";
import type { HttpAnswer, HttpReply } from "../../http/http-client.ts";
import { all, type Asked, jsonOf, lockedOut, readGenerally, spoilt } from "../answers.ts";
import { batchesOf, type Encoded } from "../batches.ts";
import type { Advice, Channel, OpenTarget, Plan, PlannedRequest, Reading } from "../channel.ts";
import { type Click, sift, wrongAge } from "../clicks.ts";
import { parseSettings } from "../settings.ts";
import { get, hostOf, post } from "../vendor.ts";
import { eventOf, profileOf } from "./event.ts";
import { KlaviyoSettings } from "./settings.ts";

/** Of a bulk request, less the few bytes around its events. */
const limits = { maxCount: 1_000, maxBytes: 5_000_000 - 200 } as const;

/** It takes events from 2000 on. */
const maxAgeMs = Infinity;

/**
 * Klaviyo by its events API: several events by the bulk endpoint, one by the plain one, which alone takes a repeat
 * without an error. `baseUrl` is for tests.
 */
export function createKlaviyo({
  baseUrl = "https://a.klaviyo.com",
}: { readonly baseUrl?: string } = {}): Channel {
  return {
    deduplicates: true,
    open: ({ settings }) => openKlaviyo(parseSettings(KlaviyoSettings, settings), baseUrl),
  };
}

function openKlaviyo(
  { api_key, revision, metric, identifier }: KlaviyoSettings,
  baseUrl: string,
): OpenTarget {
  const headers = {
    authorization: `Klaviyo-API-Key ${api_key}`,
    revision,
    accept: "application/vnd.api+json",
  };
  const json = { ...headers, "content-type": "application/vnd.api+json" };
  const asked = { deliveries: [], secrets: [api_key] };

  function planned(batch: readonly Encoded<Click>[]): PlannedRequest {
    const deliveries = batch.map(({ of }) => of.delivery);
    const [first] = batch;
    return {
      deliveries,
      request:
        batch.length === 1 && first !== undefined
          ? post(`${baseUrl}/api/events`, json, single(metric, first.of))
          : post(`${baseUrl}/api/event-bulk-create-jobs`, json, bulk(batch)),
      read: (reply, now) => read(reply, { ...asked, deliveries }, now),
    };
  }

  return {
    host: hostOf(baseUrl),
    maxEvents: limits.maxCount,
    plan(deliveries, now): Plan {
      const { clicks, skipped } = sift(deliveries, (click) => {
        if (identifier === undefined || click.event.visitor === "") return "no-identifier";
        return wrongAge(click, now, maxAgeMs);
      });
      const { firsts, repeats } = apart(clicks);
      const entries = firsts.map((of) => ({ of, text: entry(metric, of) }));
      const alone = repeats.map((of) => [{ of, text: entry(metric, of) }]);
      return { requests: [...batchesOf(entries, limits), ...alone].map(planned), skipped };
    },
    test: (): PlannedRequest => ({
      deliveries: [],
      request: get(`${baseUrl}/api/accounts`, headers),
      read: (reply, now) => readTest(reply, asked, now),
    }),
  };
}

/**
 * A bulk request with a repeated `unique_id` fails, and none of its events is processed (klaviyo/openapi,
 * openapi/stable/apis/bulk_create_events.json, revision 2026-04-15). Should that also mean one of an earlier request, which
 * the words leave open, then its halving ends at single events, and the plain endpoint takes a repeat.
 */
function apart(clicks: readonly Click[]): { firsts: Click[]; repeats: Click[] } {
  const seen = new Set<string>();
  const firsts: Click[] = [];
  const repeats: Click[] = [];
  for (const click of clicks) {
    (seen.has(click.event.event_id) ? repeats : firsts).push(click);
    seen.add(click.event.event_id);
  }
  return { firsts, repeats };
}

function single(metric: string, click: Click): string {
  const event = eventOf(metric, click);
  return JSON.stringify({
    data: { ...event, attributes: { ...event.attributes, profile: profileOf(click) } },
  });
}

/** An entry of a bulk request: one event under its profile. */
function entry(metric: string, click: Click): string {
  const attributes = {
    backfill: click.delivery.replayed,
    profile: profileOf(click),
    events: { data: [eventOf(metric, click)] },
  };
  return JSON.stringify({ type: "event-bulk-create", attributes });
}

function bulk(batch: readonly Encoded<Click>[]): string {
  const entries = batch.map(({ text }) => text).join(",");
  return `{"data":{"type":"event-bulk-create-job","attributes":{"events-bulk-create":{"data":[${entries}]}}}}`;
}

function read(reply: HttpReply, asked: Asked, now: number): Reading {
  const general = readGenerally(reply, asked, now);
  if (general !== undefined || reply.kind === "failure") return general ?? all(asked, delivered);
  // Accepted, and processed later: what is wrong with a profile or a value then is told to nobody.
  if (reply.status < 300) return all(asked, delivered, exhausted(reply));
  const detail = problemOf(reply)?.detail ?? `HTTP ${reply.status}`;
  return reply.status === 401 || reply.status === 403
    ? lockedOut(asked, detail)
    : spoilt(asked, "refused", detail);
}

/** The account's requests of this minute are used up. */
function exhausted({ headers }: HttpAnswer): Advice | undefined {
  const seconds = Number(headers["ratelimit-reset"]);
  return headers["ratelimit-remaining"] === "0" && seconds > 0
    ? { kind: "slow-down", forMs: seconds * 1_000 }
    : undefined;
}

/** It reads the account, which a key for events alone may not: that answer too says that the key is known. */
function readTest(reply: HttpReply, asked: Asked, now: number): Reading {
  const known =
    reply.kind === "answer" && reply.status === 403 && problemOf(reply)?.code === "permission_denied";
  return known ? all(asked, delivered) : read(reply, asked, now);
}

const delivered = { kind: "delivered" } as const;

function problemOf({ body }: HttpAnswer) {
  return Problems.safeParse(jsonOf(body)).data?.errors[0];
}

const Problems = z.object({ errors: z.array(z.object({ code: z.string(), detail: z.string() })) });
