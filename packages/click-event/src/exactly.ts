import { z } from "zod";

type Check = (value: unknown) => boolean;

/**
 * A fast check for values that came out of `JSON.parse`, derived from the schema. True means that the schema takes
 * the value and would give back an equal one. False says nothing: ask the schema, which also knows why. (One field
 * more than the schema has is enough for it, because that field has to be left out.)
 *
 * A refinement is not part of what zod tells about a schema. The one for well-formed text is repeated here; the
 * property test in `decode.test.ts` says when another is missed. Any other unknown rule throws at once.
 */
export function exactly<S extends z.ZodObject>(schema: S): (value: unknown) => value is z.infer<S> {
  const check = compile(z.toJSONSchema(schema, { io: "input" }));
  return (value): value is z.infer<S> => check(value);
}

/** The part of JSON Schema that our schemas use. */
export const Rules = z.strictObject({
  $schema: z.string().optional(),
  type: z.enum(["object", "string", "integer", "number", "boolean"]),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  minLength: z.int().default(0),
  maxLength: z.int().default(Infinity),
  pattern: z.string().optional(),
  minimum: z.int().default(-Infinity),
  maximum: z.int().default(Infinity),
});

export type Rules = z.infer<typeof Rules>;

function compile(schema: unknown): Check {
  const rules = Rules.parse(schema);
  const values = rules.const === undefined ? rules.enum : [rules.const];
  if (values !== undefined) return (value) => values.includes(value);
  if (rules.type === "object") return compileObject(rules.properties, rules.required);
  if (rules.type === "string") return compileText(rules.minLength, rules.maxLength, rules.pattern);
  if (rules.type === "integer") return compileInteger(rules.minimum, rules.maximum);
  if (rules.type === "boolean") return (value) => typeof value === "boolean";
  throw new Error("exactly: numbers with a fraction are not among the rules");
}

function compileObject(properties: Record<string, unknown>, required: readonly string[]): Check {
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    check: compile(schema),
    required: required.includes(name),
  }));
  return (value) => {
    if (!isObject(value)) return false;
    let known = 0;
    for (const field of fields) {
      const inner = value[field.name];
      if (inner === undefined) {
        if (field.required) return false;
      } else {
        if (!field.check(inner)) return false;
        known += 1;
      }
    }
    return Object.keys(value).length === known;
  };
}

function compileText(minLength: number, maxLength: number, pattern: string | undefined): Check {
  const like = pattern === undefined ? undefined : new RegExp(pattern);
  return (value) =>
    typeof value === "string" &&
    value.length >= minLength &&
    value.length <= maxLength &&
    (like === undefined || like.test(value)) &&
    value.isWellFormed();
}

function compileInteger(minimum: number, maximum: number): Check {
  return (value) =>
    Number.isSafeInteger(value) && typeof value === "number" && value >= minimum && value <= maximum;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
