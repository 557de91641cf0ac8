import type { z } from "zod";

/**
 * The first thing that is wrong with a value, for a person: the field, what it takes and what it got. Texts are
 * given by their length alone, because they may be a visitor's.
 */
export function explain(error: z.ZodError, value: unknown): { missing: boolean; detail: string } {
  const [issue] = error.issues;
  if (issue === undefined) return { missing: false, detail: "wrong" };
  const got = at(value, issue.path);
  const more = error.issues.length > 1 ? `; ${error.issues.length - 1} more wrong` : "";
  return {
    missing: got === undefined,
    detail: `${issue.path.join(".")}: takes ${takes(issue)}, got ${describe(got)}${more}`,
  };
}

/** What a value is, without saying what it says. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return `a text of ${value.length} characters`;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "an object";
}

function takes(issue: z.core.$ZodIssue): string {
  const unit = "origin" in issue && issue.origin === "string" ? " characters" : "";
  if (issue.code === "invalid_type") return `a value of type ${issue.expected}`;
  if (issue.code === "invalid_value") return `one of ${issue.values.join(", ")}`;
  if (issue.code === "too_big") return `at most ${issue.maximum}${unit}`;
  if (issue.code === "too_small") return `at least ${issue.minimum}${unit}`;
  if (issue.code === "invalid_format") return `a text like ${issue.pattern ?? issue.format}`;
  return issue.message;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}
