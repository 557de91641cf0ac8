import { z } from "zod";

// A field says what it takes in its metadata, for the problem list and for docs/configuration.md. `.describe()`
// what it is for; mark what must never be shown with `secret()` or `.meta({ secret: true })`.

/** What a person needs to know to set a field. */
export interface FieldFacts {
  readonly takes: string;
  readonly description: string;
  /** As it would be written in the environment; `undefined` for none. */
  readonly default: string | undefined;
  readonly required: boolean;
  readonly secret: boolean;
}

/** Read off the schema: from its metadata, and through `.default()` and `.optional()`. */
export function fieldFacts(field: z.core.$ZodType): FieldFacts {
  const meta = z.globalRegistry.get(field) ?? {};
  const wrapped = field instanceof z.ZodDefault || field instanceof z.ZodOptional;
  const inner = wrapped ? fieldFacts(field.unwrap()) : undefined;
  const unit = unitOf(field);
  return {
    takes: typeof meta["takes"] === "string" ? meta["takes"] : (inner?.takes ?? takesOf(field)),
    description: meta.description ?? inner?.description ?? "",
    default: field instanceof z.ZodDefault ? written(field.def.defaultValue, unit) : inner?.default,
    required: !wrapped,
    secret: meta["secret"] === true || inner?.secret === true,
  };
}

/** The fields of what an app exports as its `Config`, in their order. Throws when it is no zod object. */
export function describeFields(Config: unknown): Map<string, FieldFacts> {
  if (!(Config instanceof z.ZodObject)) throw new Error("Config is not a zod object");
  const shape: Readonly<Record<string, z.core.$ZodType>> = Config.shape;
  return new Map(Object.entries(shape).map(([name, field]) => [name, fieldFacts(field)]));
}

/** A TCP port; 0 takes any free one. */
export function port() {
  return wholeNumber("a port, 0 to 65535", 0, 65_535);
}

/** Milliseconds. */
export function durationMs({ min = 0, max = 2_147_483_647 } = {}) {
  return wholeNumber(`milliseconds, ${range(min, max, 2_147_483_647)}`, min, max);
}

/** A whole number. */
export function integer({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  return wholeNumber(`a whole number, ${range(min, max, Number.MAX_SAFE_INTEGER)}`, min, max);
}

const units = new Map([
  ["", 1],
  ["B", 1],
  ["KiB", 1024],
  ["MiB", 1024 ** 2],
  ["GiB", 1024 ** 3],
  ["TiB", 1024 ** 4],
]);

/** Bytes: a number, or with a unit (`512MiB`). */
export function byteSize({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  const takes = `bytes or a size like 512MiB, ${formatBytes(min)}${
    max === Number.MAX_SAFE_INTEGER ? " or more" : ` to ${formatBytes(max)}`
  }`;
  return parsed(takes, (raw) => {
    const [, amount, unit = ""] = /^(\d{1,15}) ?([KMGT]iB|B)?$/.exec(raw) ?? [];
    const bytes = Number(amount) * (units.get(unit) ?? Number.NaN);
    return bytes >= min && bytes <= max ? bytes : undefined;
  }).meta({ unit: "bytes" });
}

/** The largest unit that divides it: 512MiB. */
export function formatBytes(bytes: number): string {
  const [unit, size] = [...units].findLast(([, each]) => bytes >= each && bytes % each === 0) ?? ["", 1];
  return `${bytes / size}${unit === "B" ? "" : unit}`;
}

export function boolean() {
  const values = new Map([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ]);
  return parsed("true or false", (raw) => values.get(raw.toLowerCase()));
}

/** Parts separated by commas, without the blanks around them; never empty. */
export function list(takes = "a list separated by commas") {
  return parsed(takes, (raw) => {
    const parts = raw.split(",").map((part) => part.trim());
    return parts.includes("") ? undefined : parts;
  });
}

/**
 * A URL of one of these protocols (`["kafka", "memory"]`), as the text it was. Several hosts with commas between
 * them, which drivers of clusters take, are let through. Its password is hidden wherever the value is shown.
 */
export function url(protocols: readonly string[]) {
  const takes = `a URL ${protocols.map((protocol) => `${protocol}:`).join(", ")}`;
  return parsed(takes, (raw) => {
    const [, protocol = ""] = /^([a-z][a-z\d+.-]*):/.exec(raw) ?? [];
    const oneHost = raw.replace(/^([^/]+:\/\/(?:[^/?#]*@)?[^,/?#]*)(?:,[^,/?#\s]+)*/, "$1");
    return protocols.includes(protocol) && URL.canParse(oneHost) ? raw : undefined;
  });
}

/** For `url()`: a Redis, or a set of them with sentinels. */
export const redisProtocols = ["redis", "rediss", "redis+sentinel", "rediss+sentinel"] as const;

/** What to listen on. */
export function host() {
  return z
    .string()
    .regex(/^[\w.:-]{1,255}$/)
    .meta({ takes: "a host name or address" });
}

export function text({ min = 1, max = 4096 } = {}) {
  return z
    .string()
    .min(min)
    .max(max)
    .meta({ takes: `text, ${min} to ${max} characters` });
}

/** Text that is never shown: not in a problem, not in a log. */
export function secret({ min = 1 } = {}) {
  return z
    .string()
    .min(min)
    .meta({ takes: `a secret of ${min} or more characters`, secret: true });
}

function wholeNumber(takes: string, min: number, max: number) {
  return parsed(takes, (raw) => {
    const value = /^-?\d{1,16}$/.test(raw) ? Number(raw) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

/** A field whose text `parse` turns into its value, or into nothing when it is not what the field takes. */
function parsed<Value>(takes: string, parse: (raw: string) => Value | undefined) {
  return z
    .string()
    .transform((raw, context) => {
      const value = parse(raw);
      if (value !== undefined) return value;
      context.addIssue({ code: "custom" });
      return z.NEVER;
    })
    .meta({ takes });
}

function range(min: number, max: number, unbounded: number): string {
  return max === unbounded ? `${min} or more` : `${min} to ${max}`;
}

function unitOf(field: z.core.$ZodType): unknown {
  if (field instanceof z.ZodDefault || field instanceof z.ZodOptional) return unitOf(field.unwrap());
  return z.globalRegistry.get(field)?.["unit"];
}

function takesOf(field: z.core.$ZodType): string {
  if (field instanceof z.ZodEnum) return `one of ${field.options.join(", ")}`;
  if (field instanceof z.ZodString) return "text";
  return "";
}

function written(value: unknown, unit: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return unit === "bytes" && typeof value === "number" ? formatBytes(value) : String(value);
}
