import { createHmac } from "node:crypto";
import { z } from "zod";
import { now } from "../testing/deliveries.ts";
import { firstProblem, parseJson } from "../testing/json.ts";
import { type Answer, type Asked, openStandIn, type StandIn } from "../testing/stand-in-server.ts";

export const metaCredentials = { pixel_id: "1234567890123456", access_token: "EAAB0123456789abcdefghij" };
export const metaAppSecret = "fedcba9876543210fedcba9876543210";

export interface MetaStandIn extends StandIn {
  /** By name and id, as repeats are told. */
  readonly stored: ReadonlySet<string>;
  /** Ids of events that spoil their request. */
  readonly poison: Set<string>;
}

/** One event that is invalid or too old spoils the whole request. Takes a proof where one is given. */
export async function openMetaStandIn(): Promise<MetaStandIn> {
  const stored = new Set<string>();
  const poison = new Set<string>();
  const server = await openStandIn((asked) => answer(asked, stored, poison));
  return { ...server, stored, poison };
}

function answer(asked: Asked, stored: Set<string>, poison: ReadonlySet<string>): Answer {
  const path = `/v25.0/${metaCredentials.pixel_id}`;
  if (asked.headers.authorization !== `Bearer ${metaCredentials.access_token}`) {
    return graphError(400, 190, "Invalid OAuth access token - Cannot parse access token");
  }
  if (asked.method === "GET" && asked.url.pathname === path) {
    const proof = asked.url.searchParams.get("appsecret_proof") ?? expectedProof;
    return proof === expectedProof ? { status: 200, body: { id: metaCredentials.pixel_id } } : wrongProof();
  }
  if (asked.method !== "POST" || asked.url.pathname !== `${path}/events`)
    return graphError(404, 2_500, "Unknown path");
  if (Buffer.byteLength(asked.body) > 1_000_000) return graphError(400, 100, "the request is too large");
  const { data: batch, error } = Body.safeParse(parseJson(asked.body));
  if (batch === undefined) {
    const { field, message } = firstProblem(error.issues);
    return graphError(400, 100, `Invalid parameter: ${field} ${message}`);
  }
  if ((batch.appsecret_proof ?? expectedProof) !== expectedProof) return wrongProof();
  if (batch.data.some(({ event_time }) => event_time < now / 1_000 - 7 * 86_400)) {
    return graphError(400, 100, "Event Timestamp Too Old", 2_804_003);
  }
  if (batch.data.some(({ event_id }) => poison.has(event_id)))
    return graphError(400, 100, "Invalid parameter: poison");
  for (const { event_name, event_id } of batch.data) stored.add(`${event_name} ${event_id}`);
  return { status: 200, body: { events_received: batch.data.length, messages: [], fbtrace_id: "A1" } };
}

export function graphError(status: number, code: number, message: string, error_subcode?: number): Answer {
  return {
    status,
    body: { error: { message, type: "OAuthException", code, error_subcode, fbtrace_id: "A1" } },
  };
}

const wrongProof = () => graphError(400, 100, "Invalid appsecret_proof provided in the API argument");
const expectedProof = createHmac("sha256", metaAppSecret).update(metaCredentials.access_token).digest("hex");

const hashed = z.array(z.string().regex(/^[0-9a-f]{64}$/)).min(1);

const Body = z.strictObject({
  appsecret_proof: z.string().optional(),
  data: z
    .array(
      z.strictObject({
        event_name: z.string().min(1).max(50),
        event_time: z.int().max(now / 1_000 + 60),
        event_id: z.string().min(1),
        action_source: z.literal("website"),
        event_source_url: z.url({ protocol: /^https?$/ }),
        user_data: z
          .strictObject({
            client_user_agent: z.string().min(1),
            external_id: hashed.optional(),
            country: hashed.optional(),
            fbc: z
              .string()
              .regex(/^fb\.1\.\d{13}\..+$/s)
              .optional(),
          })
          .refine(({ external_id, fbc }) => external_id !== undefined || fbc !== undefined, {
            error: "what is given is too broad to match",
          }),
        custom_data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
      }),
    )
    .min(1)
    .max(1_000),
});
