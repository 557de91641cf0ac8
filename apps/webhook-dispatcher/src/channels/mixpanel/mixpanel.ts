import { z } from "zod";
import type { HttpReply } from "../../http/http-client.ts";
import { all, type Asked, jsonOf, lockedOut, readGenerally, spoilt, tellable } from "../answers.ts";
import { batchesOf } from "../batches.ts";
import type { Channel, OpenTarget, Plan, PlannedRequest, Reading, Verdict } from "../channel.ts";
import { sift, wrongAge } from "../clicks.ts";
import { parseSettings } from "../settings.ts";
import { hostOf, post } from "../vendor.ts";
import { eventOf } from "./event.ts";
import { type MixpanelSettings, settingsSchema } from "./settings.ts";

/** Its newer pages say 10 MB, its answer to more than 2 MiB does not. Counted uncompressed. */
const limits = { maxCount: 2_000, maxBytes: 2_000_000 } as const;

/** Nothing before 1971 is taken, and we have nothing before 2000. */
const maxAgeMs = Infinity;

const baseUrls = {
  us: "https://api.mixpanel.com",
  eu: "https://api-eu.mixpanel.com",
  in: "https://api-in.mixpanel.com",
};

/** Mixpanel by its import API, in strict mode: it says of each event what is wrong with it. `baseUrl` is for tests. */
export function createMixpanel({ baseUrl }: { readonly baseUrl?: string } = {}): Channel {
  return {
    deduplicates: true,
    open({ settings }) {
      const parsed = parseSettings(settingsSchema(settings), settings);
      return openMixpanel(parsed, baseUrl ?? baseUrls[parsed.region]);
    },
  };
}

function openMixpanel(settings: MixpanelSettings, baseUrl: string): OpenTarget {
  const byToken = "project_token" in settings;
  const secret = byToken ? settings.project_token : settings.secret;
  const user = byToken ? settings.project_token : settings.username;
  const basic = Buffer.from(`${user}:${byToken ? "" : settings.secret}`).toString("base64");
  const url = `${baseUrl}/import?strict=1${byToken ? "" : `&project_id=${settings.project_id}`}`;
  const asked = { deliveries: [], secrets: [secret, basic] };
  const request = (events: readonly string[]) =>
    post(url, { authorization: `Basic ${basic}` }, `[${events.join(",")}]`);
  return {
    host: hostOf(baseUrl),
    maxEvents: limits.maxCount,
    plan(deliveries, now): Plan {
      const { clicks, skipped } = sift(deliveries, (click) => wrongAge(click, now, maxAgeMs));
      const events = clicks.map((of) => ({ of, text: JSON.stringify(eventOf(settings.event_name, of)) }));
      const requests = batchesOf(events, limits).map((batch): PlannedRequest => {
        const inIt = batch.map(({ of }) => of.delivery);
        return {
          deliveries: inIt,
          request: request(batch.map(({ text }) => text)),
          read: (reply, at) => read(reply, { ...asked, deliveries: inIt }, at),
        };
      });
      return { requests, skipped };
    },
    test: (now): PlannedRequest => ({
      deliveries: [],
      request: request([JSON.stringify(testOf(now))]),
      read: (reply, at) => read(reply, asked, at),
    }),
  };
}

/** Nobody's event; the same within a second. */
function testOf(now: number): object {
  const second = Math.floor(now / 1_000);
  return {
    event: "sluice_test",
    properties: { time: second * 1_000, distinct_id: "", $insert_id: `sluice-test-${second}` },
  };
}

function read(reply: HttpReply, asked: Asked, now: number): Reading {
  const general = readGenerally(reply, asked, now);
  if (general !== undefined || reply.kind === "failure") return general ?? all(asked, delivered);
  const { data: answer } = Answer.safeParse(jsonOf(reply.body));
  if (reply.status < 300) {
    // Not by Mixpanel, so it may not have seen the events.
    return answer === undefined
      ? all(asked, { kind: "unknown", code: "invalid-answer" })
      : all(asked, delivered);
  }
  const detail = answer?.error ?? `HTTP ${reply.status}`;
  if (reply.status === 401 || reply.status === 403) return lockedOut(asked, detail);
  const failed = answer?.failed_records ?? [];
  return failed.length === 0
    ? spoilt(asked, "refused", detail)
    : partly(failed, answer?.num_records_imported, asked);
}

/** A 400 that names events: the others are in. If the numbers do not add up, the others may be, and are sent again. */
function partly(
  failed: readonly { readonly index: number; readonly message: string }[],
  imported: number | undefined,
  asked: Asked,
): Reading {
  const count = Math.max(asked.deliveries.length, 1);
  const others: Verdict =
    imported === undefined || imported === count - failed.length
      ? delivered
      : { kind: "unknown", code: "invalid-answer" };
  const verdicts = Array.from({ length: count }, (): Verdict => others);
  for (const { index, message } of failed) {
    if (index < count)
      verdicts[index] = { kind: "refused", code: "refused", detail: tellable(message, asked) };
  }
  return { verdicts };
}

const delivered = { kind: "delivered" } as const;

const Answer = z.object({
  code: z.number(),
  error: z.string().nullish(),
  num_records_imported: z.int().optional(),
  failed_records: z.array(z.object({ index: z.int().min(0), message: z.string() })).nullish(),
});
