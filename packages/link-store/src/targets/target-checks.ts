import { z } from "zod";
import { normaliseDomain } from "../domain.ts";
import { invalid } from "../invalid.ts";
import { check, country, integer, listOf, oneOf } from "../link-options-schema.ts";
import { subscribableTypes } from "./event-types.ts";
import { Headers } from "./headers.ts";
import { macro, templateProblem } from "./pixel-macros.ts";
import type { TargetKind } from "./target.ts";
import type { TargetChanges } from "./target-store.ts";

// Each error text says what the field takes.

const maxUrlLength = 2_048;

function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return "an absolute URL, http or https";
  if (url.username !== "" || url.password !== "") return "a URL without user and password";
  if (url.hash !== "") return "a URL without a fragment";
  return url.href.length > maxUrlLength ? `a URL of at most ${maxUrlLength} characters` : undefined;
}

const EndpointUrl = z.string("an absolute URL").transform((text, context) => {
  const takes = urlProblem(text);
  if (takes === undefined) return new URL(text).href;
  context.addIssue({ code: "custom", message: takes, input: withoutUser(text) });
  return z.NEVER;
});

/** Kept as it was entered: a parser would encode the braces. */
const PixelUrl = z.string("an absolute URL").transform((text, context) => {
  const takes = urlProblem(text.replaceAll(macro, "0")) ?? templateProblem(text);
  if (takes === undefined && text.length <= maxUrlLength) return text;
  const tooLong = `a URL of at most ${maxUrlLength} characters`;
  context.addIssue({ code: "custom", message: takes ?? tooLong, input: withoutUser(text) });
  return z.NEVER;
});

/** A message may be shown and logged; a password may not. */
function withoutUser(text: string): string {
  return text.replace(/\/\/.*@/, "//…@");
}

const Domain = z.string("a host name").transform((text, context) => {
  const domain = normaliseDomain(text);
  if (domain !== undefined) return domain;
  context.addIssue({ code: "custom", message: "a host name such as go.example.com", input: text });
  return z.NEVER;
});

const flag = z.boolean("true or false");

const Filter = z.strictObject(
  {
    linkIds: z.exactOptional(listOf(integer(1, Number.MAX_SAFE_INTEGER), 1, 1_000, "ids of links")),
    domains: z.exactOptional(listOf(Domain, 1, 100, "domains")),
    countries: z.exactOptional(listOf(country, 1, 250, "countries")),
    includeBots: z.exactOptional(flag),
    includeOptedOut: z.exactOptional(flag),
  },
  "linkIds, domains, countries, includeBots and includeOptedOut",
);

/** Shown as its length: it is made of secrets. */
const Settings = z.unknown().transform((value, context) => {
  const text = JSON.stringify(value) ?? "";
  if (typeof value === "object" && value !== null && !Array.isArray(value) && text.length <= 16_384)
    return text;
  context.addIssue({
    code: "custom",
    message: "an object of at most 16 KiB as JSON",
    input: `${text.length} characters`,
  });
  return z.NEVER;
});

const rate = "a number from 0.01 to 10000";

const any = {
  description: z.exactOptional(
    z
      .string("a text")
      .regex(/^[^\p{Cc}\p{Cs}]{0,200}$/u, "at most 200 characters, none of them a control character"),
  ),
  filter: z.exactOptional(Filter),
  maxInFlight: z.exactOptional(integer(1, 1_000).nullable()),
  maxPerSecond: z.exactOptional(z.number(rate).min(0.01, rate).max(10_000, rate).nullable()),
};

const Parts = z.object({
  ...any,
  url: z.exactOptional(EndpointUrl),
  headers: z.exactOptional(Headers),
  eventTypes: z.exactOptional(listOf(oneOf(subscribableTypes), 1, subscribableTypes.length, "event types")),
  method: z.exactOptional(oneOf(["GET", "POST"])),
  purpose: z.exactOptional(oneOf(["conversion", "retargeting"])),
  settings: z.exactOptional(Settings),
});
/** Each part in its one form; settings as JSON. */
export type CheckedTarget = z.infer<typeof Parts>;

const PixelParts = Parts.extend({ url: z.exactOptional(PixelUrl) });

const general = ["description", "filter", "maxInFlight", "maxPerSecond"];
const takes = {
  webhook: [...general, "url", "headers", "eventTypes"],
  pixel: [...general, "url", "method", "purpose"],
  integration: [...general, "settings"],
};

/** Throws `invalid`. `undefined` is taken for absent. */
export function checkTarget(kind: TargetKind, changes: TargetChanges): CheckedTarget {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const kinds = kind === "webhook" || kind === "pixel" ? kind : "integration";
  const foreign = given.find(([name]) => !takes[kinds].includes(name));
  if (foreign !== undefined)
    throw invalid(foreign[0], `nothing for ${kind}: there is no such part`, "something");
  return check(kind === "pixel" ? PixelParts : Parts, Object.fromEntries(given));
}

/** Throws `invalid`. */
export function checkKind(kind: string): TargetKind {
  return check(oneOf(["webhook", "pixel", "ga4", "mixpanel", "klaviyo", "meta"]), kind, "kind");
}

/** A reason that a person reads. Throws `invalid`. */
export function checkReason(reason: string): string {
  const takesReason = "1 to 500 characters, none of them a control character";
  return check(z.string().regex(/^[^\p{Cc}\p{Cs}]{1,500}$/u, takesReason), reason, "reason");
}
