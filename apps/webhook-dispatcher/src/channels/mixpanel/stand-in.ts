import { z } from "zod";
import { now } from "../testing/deliveries.ts";
import { firstProblem, parseJson } from "../testing/json.ts";
import { type Answer, type Asked, openStandIn, type StandIn } from "../testing/stand-in-server.ts";

export const mixpanelToken = "0123456789abcdef0123456789abcdef";
export const mixpanelAccount = {
  username: "sluice.1a2b.mp-service-account",
  secret: "pass:word",
  project_id: "77",
};

export interface MixpanelStandIn extends StandIn {
  /** By event, time, distinct_id and $insert_id, as repeats are told. */
  readonly stored: ReadonlySet<string>;
  /** Ids of events that are refused as if they were invalid. */
  readonly poison: Set<string>;
}

export async function openMixpanelStandIn(): Promise<MixpanelStandIn> {
  const stored = new Set<string>();
  const poison = new Set<string>();
  const server = await openStandIn((asked) => answer(asked, stored, poison));
  return { ...server, stored, poison };
}

function answer(asked: Asked, stored: Set<string>, poison: ReadonlySet<string>): Answer {
  if (asked.method !== "POST" || asked.url.pathname !== "/import") return { status: 404 };
  if (!isAuthorized(asked)) return failure(401, "Invalid credentials");
  if (Buffer.byteLength(asked.body) > 2_097_152)
    return failure(413, "request exceeds max limit of 2097152 bytes");
  const { data: events } = Events.safeParse(parseJson(asked.body));
  if (events === undefined || asked.url.searchParams.get("strict") !== "1") {
    return failure(400, "takes an array of at most 2000 events, in strict mode");
  }
  const failed = events.flatMap((event, index) => {
    const { data, error } = Event.safeParse(event);
    if (data !== undefined && !poison.has(data.properties.$insert_id)) {
      const { time, distinct_id, $insert_id } = data.properties;
      stored.add([data.event, time, distinct_id, $insert_id].join(" "));
      return [];
    }
    const { field, message } = firstProblem(error?.issues ?? [{ path: ["properties"], message: "poison" }]);
    return [{ index, insert_id: "", field, message: `'${field}' is invalid: ${message}` }];
  });
  const num_records_imported = events.length - failed.length;
  return failed.length === 0
    ? { status: 200, body: { code: 200, num_records_imported, status: "OK" } }
    : {
        status: 400,
        body: {
          code: 400,
          error: "some data points in the request failed validation",
          status: "Bad Request",
          num_records_imported,
          failed_records: failed,
        },
      };
}

function isAuthorized({ headers, url }: Asked): boolean {
  const [scheme, credentials = ""] = (headers.authorization ?? "").split(" ");
  const given = Buffer.from(credentials, "base64").toString();
  const byAccount =
    given === `${mixpanelAccount.username}:${mixpanelAccount.secret}` &&
    url.searchParams.get("project_id") === mixpanelAccount.project_id;
  return scheme === "Basic" && (byAccount || given === `${mixpanelToken}:`);
}

function failure(code: number, error: string): Answer {
  return { status: code, body: { code, error, status: "Error" } };
}

const Events = z.array(z.unknown()).min(1).max(2_000);

const placeholders = [
  "anon",
  "anonymous",
  "nil",
  "none",
  "null",
  "n/a",
  "00000000-0000-0000-0000-000000000000",
];

const Event = z
  .strictObject({
    event: z.string().min(1).max(255),
    properties: z
      .looseObject({
        time: z
          .int()
          .min(31_536_000_000)
          .max(now + 3_600_000),
        distinct_id: z
          .string()
          .max(255)
          .refine((id) => !placeholders.includes(id)),
        $insert_id: z.string().regex(/^[A-Za-z0-9-]{1,36}$/),
      })
      .refine((properties) => Object.keys(properties).length < 255, { error: "too many properties" })
      // Longer texts are cut, which is a loss that nobody is told of.
      .refine((properties) => Object.values(properties).every((value) => !isTooLong(value)), {
        error: "is cut",
      }),
  })
  .refine((event) => Buffer.byteLength(JSON.stringify(event)) < 1_000_000, { error: "over 1 MB" });

function isTooLong(value: unknown): boolean {
  return typeof value === "string" ? value.length > 255 : typeof value === "object";
}
