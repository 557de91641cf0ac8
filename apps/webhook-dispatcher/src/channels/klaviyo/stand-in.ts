import { z } from "zod";
import { now } from "../testing/deliveries.ts";
import { firstProblem, parseJson } from "../testing/json.ts";
import { type Answer, type Asked, openStandIn, type StandIn } from "../testing/stand-in-server.ts";

export const klaviyoKey = "pk_0123456789abcdef0123456789abcdef01";

export interface KlaviyoStandIn extends StandIn {
  /** By profile, metric and unique_id, as repeats are told; whether it may begin a flow. */
  readonly stored: ReadonlyMap<string, boolean>;
  /** Ids of events that spoil their request. */
  readonly poison: Set<string>;
}

/** Whatever is wrong with one event spoils the whole request. */
export async function openKlaviyoStandIn(): Promise<KlaviyoStandIn> {
  const stored = new Map<string, boolean>();
  const poison = new Set<string>();
  const server = await openStandIn((asked) => answer(asked, stored, poison));
  return { ...server, stored, poison };
}

function answer(asked: Asked, stored: Map<string, boolean>, poison: ReadonlySet<string>): Answer {
  const { headers, url, body } = asked;
  if (headers.authorization !== `Klaviyo-API-Key ${klaviyoKey}`) {
    return failure(401, "authentication_failed", "Incorrect authentication credentials.");
  }
  if (!/^\d{4}-\d\d-\d\d$/.test(String(headers["revision"]))) return failure(400, "invalid", "no revision");
  if (asked.method === "GET" && url.pathname === "/api/accounts") return { status: 200, body: { data: [] } };
  if (headers["content-type"] !== "application/vnd.api+json")
    return failure(415, "unsupported", "content type");
  if (Buffer.byteLength(body) > 5_000_000) return failure(413, "payload_too_large", "over 5 MB");
  const isBulk = url.pathname === "/api/event-bulk-create-jobs";
  if (!isBulk && url.pathname !== "/api/events") return failure(404, "not_found", "no such thing");
  const { data: events, error } = isBulk
    ? Bulk.safeParse(parseJson(body))
    : Single.safeParse(parseJson(body));
  if (error !== undefined) {
    const { field, message } = firstProblem(error.issues);
    return failure(400, "invalid", `${field}: ${message}`);
  }
  const keys = events.map(({ anonymous_id, metric, unique_id }) => `${anonymous_id} ${metric} ${unique_id}`);
  if (isBulk && new Set(keys).size < keys.length) return failure(400, "duplicate", "a unique_id is repeated");
  if (events.some(({ unique_id }) => poison.has(unique_id))) return failure(400, "invalid", "poison");
  // The first one counts.
  for (const [at, key] of keys.entries()) {
    if (!stored.has(key)) stored.set(key, events[at]?.backfill !== true);
  }
  return {
    status: 202,
    headers: { "ratelimit-limit": "150", "ratelimit-remaining": "149", "ratelimit-reset": "60" },
  };
}

function failure(status: number, code: string, detail: string): Answer {
  return { status, body: { errors: [{ id: "1", code, title: code, detail }] } };
}

const Properties = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .refine((properties) => Object.keys(properties).length <= 400, { error: "over 400 properties" })
  .refine(
    (properties) => Object.values(properties).every((value) => Buffer.byteLength(String(value)) <= 100_000),
    { error: "a text is over 100 KB" },
  );

const attributes = {
  time: z.iso.datetime().refine((time) => {
    const at = Date.parse(time);
    return at >= Date.UTC(2000, 0) && at <= now + 365 * 86_400_000;
  }),
  unique_id: z.string().min(1),
  backfill: z.boolean(),
  properties: Properties,
  metric: z.strictObject({
    data: z.strictObject({
      type: z.literal("metric"),
      attributes: z.strictObject({ name: z.string().min(1).max(127) }),
    }),
  }),
};
const profile = z.strictObject({
  data: z.strictObject({
    type: z.literal("profile"),
    attributes: z.strictObject({ anonymous_id: z.string().min(1) }),
  }),
});

const Single = z
  .strictObject({
    data: z.strictObject({
      type: z.literal("event"),
      attributes: z.strictObject({ ...attributes, profile }),
    }),
  })
  .transform(({ data }) => [flat(data.attributes, data.attributes.profile)]);

const Entry = z.strictObject({
  type: z.literal("event-bulk-create"),
  attributes: z.strictObject({
    backfill: z.boolean(),
    profile,
    events: z.strictObject({
      data: z
        .array(z.strictObject({ type: z.literal("event"), attributes: z.strictObject(attributes) }))
        .min(1),
    }),
  }),
});
const Bulk = z
  .strictObject({
    data: z.strictObject({
      type: z.literal("event-bulk-create-job"),
      attributes: z.strictObject({ "events-bulk-create": z.strictObject({ data: z.array(Entry).min(1) }) }),
    }),
  })
  .transform(({ data }) =>
    data.attributes["events-bulk-create"].data.flatMap((entry) =>
      entry.attributes.events.data.map((event) => flat(event.attributes, entry.attributes.profile)),
    ),
  )
  .refine((events) => events.length <= 1_000, { error: "over 1000 events" });

interface Attributes {
  readonly unique_id: string;
  readonly backfill: boolean;
  readonly metric: { readonly data: { readonly attributes: { readonly name: string } } };
}

function flat({ unique_id, backfill, metric }: Attributes, { data }: z.infer<typeof profile>) {
  return {
    unique_id,
    backfill,
    metric: metric.data.attributes.name,
    anonymous_id: data.attributes.anonymous_id,
  };
}
