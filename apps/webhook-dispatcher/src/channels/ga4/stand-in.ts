import { z } from "zod";
import { now } from "../testing/deliveries.ts";
import { firstProblem, parseJson } from "../testing/json.ts";
import { type Asked, openStandIn, type StandIn } from "../testing/stand-in-server.ts";

export const ga4Credentials = { measurement_id: "G-AB12CD34EF", api_secret: "s3cret_of-the_stream" };

export interface Ga4StandIn extends StandIn {
  /** What it dropped without a word, and why. */
  readonly dropped: readonly string[];
  readonly stored: () => number;
}

/** Answers 204 to whatever it has read; its validator says what it would have dropped, and stores nothing. */
export async function openGa4StandIn(): Promise<Ga4StandIn> {
  const dropped: string[] = [];
  let stored = 0;
  const server = await openStandIn((asked) => {
    if (asked.method !== "POST") return { status: 405 };
    const messages = problemsOf(asked);
    if (asked.url.pathname === "/debug/mp/collect")
      return { status: 200, body: { validationMessages: messages } };
    if (asked.url.pathname !== "/mp/collect") return { status: 404 };
    const { measurement_id, api_secret } = Object.fromEntries(asked.url.searchParams);
    if (measurement_id !== ga4Credentials.measurement_id || api_secret !== ga4Credentials.api_secret) {
      dropped.push("credentials");
    } else if (messages.length > 0) dropped.push(...messages.map(({ description }) => description));
    else stored += Body.parse(parseJson(asked.body)).events.length;
    return { status: 204 };
  });
  return { ...server, dropped, stored: () => stored };
}

function problemsOf({ body }: Asked): { fieldPath: string; description: string; validationCode: string }[] {
  if (Buffer.byteLength(body) >= 130_000) {
    return [{ fieldPath: "", description: "the body is too large", validationCode: "EXCEEDED_MAX_ENTITIES" }];
  }
  const { error } = Body.safeParse(parseJson(body));
  if (error === undefined) return [];
  const { field, message } = firstProblem(error.issues);
  return [{ fieldPath: field, description: `${field}: ${message}`, validationCode: "VALUE_INVALID" }];
}

const name = z.string().regex(/^(?!firebase_|ga_|google_)[A-Za-z][A-Za-z0-9_]{0,39}$/);
const longer: Readonly<Record<string, number>> = {
  page_location: 1_000,
  page_referrer: 420,
  page_title: 300,
};

const Params = z
  .record(name, z.union([z.string().min(1), z.number()]))
  .refine((params) => Object.keys(params).length <= 25, { error: "more than 25 parameters" })
  .refine(
    (params) => Object.entries(params).every(([key, value]) => String(value).length <= (longer[key] ?? 100)),
    { error: "a value is too long" },
  )
  .refine((params) => /^[1-9]\d*$/.test(String(params["session_id"] ?? "1")), {
    error: "session_id is no time",
  });

const Body = z.strictObject({
  client_id: z.string().regex(/^[1-9]\d*\.[1-9]\d*$/),
  validation_behavior: z.enum(["RELAXED", "ENFORCE_RECOMMENDATIONS"]).optional(),
  user_location: z
    .strictObject({ country_id: z.string().regex(/^[A-Z]{2}$/), city: z.string().min(1) })
    .partial()
    .optional(),
  device: z
    .strictObject({
      category: z.string().min(1),
      language: z.string().min(1),
      operating_system: z.string().min(1),
      operating_system_version: z.string().min(1),
      browser: z.string().min(1),
      browser_version: z.string().min(1),
    })
    .partial()
    .optional(),
  events: z
    .array(
      z.strictObject({
        name: name.refine((value) => !["session_start", "first_visit", "error"].includes(value)),
        timestamp_micros: z
          .int()
          .min((now - 72 * 3_600_000) * 1_000)
          .max(now * 1_000),
        params: Params,
      }),
    )
    .min(1)
    .max(25),
});
