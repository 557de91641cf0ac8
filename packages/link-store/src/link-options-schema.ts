import { z } from "zod";
import { normaliseDestination } from "./destination.ts";
import { invalid } from "./invalid.ts";
import { type LinkOptions, targetDevices, targetSystems } from "./link-options.ts";
import { isPasswordHash } from "./password.ts";

// Each error text says what the field takes.

/** 9999-12-31: what every date format can write. */
const latest = 253_402_300_799_999;
const instantTakes = "milliseconds since 1970";
export const Instant = z.int(instantTakes).min(1, instantTakes).max(latest, instantTakes);

export const Destination = z.string("an absolute URL").transform((text, context) => {
  const outcome = normaliseDestination(text);
  if ("href" in outcome) return outcome.href;
  context.addIssue({ code: "custom", message: outcome.takes, input: text });
  return z.NEVER;
});

export function integer(min: number, max: number) {
  const takes = `a whole number from ${min} to ${max}`;
  return z.int(takes).min(min, takes).max(max, takes);
}

export function listOf<Item extends z.ZodType>(item: Item, min: number, max: number, of: string) {
  const takes = `${min} to ${max} ${of}`;
  return z.array(item, takes).min(min, takes).max(max, takes);
}

function matching(pattern: RegExp, takes: string) {
  return z.string(takes).regex(pattern, takes);
}

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, `one of ${values.join(", ")}`);
}

const given = z.literal(true, "true, or nothing");

/** The United Kingdom has reserved `UK` as well, but no table of addresses has it. */
export const country = matching(
  /^(?!UK$)[A-Z]{2}$/,
  "two capital letters of ISO 3166-1 (GB for the United Kingdom)",
);
const region = matching(/^[A-Z]{2}-[A-Z0-9]{1,3}$/, "a code of ISO 3166-2 such as US-CA");
const language = matching(
  /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,2}$/,
  "a language in lower case such as de or pt-br",
);
const clock = matching(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "a time of day, 00:00 to 23:59");
const zoneTakes = "a time zone such as Europe/Berlin";
const zone = z.string(zoneTakes).refine(isZone, zoneTakes);
const hashTakes = "what hashPassword gives";

const TimeWindow = z.strictObject(
  {
    zone,
    days: z.exactOptional(listOf(integer(1, 7), 1, 7, "days, 1 for Monday to 7")),
    from: clock,
    to: clock,
  },
  "a zone, from, to, and days if not every day",
);

const TargetRule = z
  .strictObject(
    {
      countries: z.exactOptional(listOf(country, 1, 250, "countries")),
      regions: z.exactOptional(listOf(region, 1, 250, "regions")),
      devices: z.exactOptional(listOf(oneOf(targetDevices), 1, targetDevices.length, "devices")),
      systems: z.exactOptional(listOf(oneOf(targetSystems), 1, targetSystems.length, "systems")),
      languages: z.exactOptional(listOf(language, 1, 100, "languages")),
      times: z.exactOptional(TimeWindow),
      destination: Destination,
    },
    "countries, regions, devices, systems, languages, times and a destination",
  )
  .refine((rule) => Object.keys(rule).length > 1, "at least one condition besides the destination");

const Variant = z.strictObject(
  { destination: Destination, weight: integer(1, 1_000) },
  "a destination and a weight",
);

const utmValue = matching(/^[^\p{Cc}\p{Cs}]{1,256}$/u, "1 to 256 characters without control characters");

/** What `LinkOptions` is, for what a person enters and for what is read back; nothing else says it. */
export const LinkOptionsSchema = z.strictObject(
  {
    startsAt: z.exactOptional(Instant),
    maxClicks: z.exactOptional(integer(1, 1_000_000_000)),
    passwordHash: z.exactOptional(z.string(hashTakes).refine(isPasswordHash, hashTakes)),
    rules: z.exactOptional(listOf(TargetRule, 1, 50, "rules")),
    variants: z.exactOptional(listOf(Variant, 2, 20, "variants")),
    apps: z.exactOptional(
      z
        .strictObject(
          { ios: z.exactOptional(Destination), android: z.exactOptional(Destination) },
          "ios and android",
        )
        .refine(notEmpty, "ios, android or both"),
    ),
    passQuery: z.exactOptional(given),
    utm: z.exactOptional(
      z
        .strictObject(
          {
            source: z.exactOptional(utmValue),
            medium: z.exactOptional(utmValue),
            campaign: z.exactOptional(utmValue),
            term: z.exactOptional(utmValue),
            content: z.exactOptional(utmValue),
          },
          "source, medium, campaign, term and content",
        )
        .refine(notEmpty, "at least one of source, medium, campaign, term and content"),
    ),
    noindex: z.exactOptional(given),
    trackConversions: z.exactOptional(given),
  },
  "options that this version knows",
);

/** Throws `invalid`. */
export function checkOptions(options: unknown): LinkOptions {
  return check(LinkOptionsSchema, options);
}

/** The value in its one form. Throws `invalid`, naming the part of `field` that is wrong. */
export function check<Value>(schema: z.ZodType<Value>, value: unknown, field = ""): Value {
  const outcome = schema.safeParse(value, { reportInput: true });
  if (outcome.success) return outcome.data;
  const [issue] = outcome.error.issues;
  throw invalid(
    `${field}${fieldOf(issue?.path ?? [])}` || "a link",
    issue?.message ?? "something else",
    issue?.input,
  );
}

/**
 * Options as Postgres holds them. Those that cannot be read are left out and named in `refused`, so that the link goes
 * on; but a password that cannot be read is one that nobody knows.
 */
export function readOptions(stored: Readonly<Record<string, unknown>>): {
  options: LinkOptions;
  refused: string[];
} {
  const outcome = LinkOptionsSchema.safeParse(stored);
  if (outcome.success) return { options: outcome.data, refused: [] };
  const parts = new Map(Object.entries<z.ZodType>(LinkOptionsSchema.shape));
  const readable = ([name, value]: [string, unknown]) => parts.get(name)?.safeParse(value).success === true;
  const entries = Object.entries(stored);
  const options = LinkOptionsSchema.parse(Object.fromEntries(entries.filter(readable)));
  const refused = entries.filter((entry) => !readable(entry)).map(([name]) => name);
  return {
    options: refused.includes("passwordHash") ? { ...options, passwordHash: "unreadable" } : options,
    refused,
  };
}

/** `rules`, 0, `countries` → `rules[0].countries`; people count from 0 where their JSON does. */
function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

function notEmpty(part: object): boolean {
  return Object.keys(part).length > 0;
}

/** Making a clock takes some 20 microseconds, for each link that is read. There are some 600 names. */
const knownZones = new Set<string>();
const maxKnownZones = 1_000;

/** Names only: `Intl` would take an offset such as `+01:00` too. */
function isZone(name: string): boolean {
  if (knownZones.has(name)) return true;
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).format();
  } catch {
    return false;
  }
  if (knownZones.size < maxKnownZones) knownZones.add(name);
  return true;
}
