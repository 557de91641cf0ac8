import { z } from "zod";
import { ChannelSettingsError, type SettingsProblem } from "./settings-error.ts";

/** A field of settings that takes a text of this pattern; `takes` says so to a person. */
export function text(pattern: RegExp, takes: string) {
  return z.string({ error: takes }).regex(pattern, { error: takes });
}

/**
 * The settings as the schema gives them, or a `ChannelSettingsError` with every problem. The schema is a strict object
 * and says in the message of each of its fields what that field takes.
 */
export function parseSettings<S extends z.ZodType>(schema: S, settings: object): z.infer<S> {
  const { success, data, error } = schema.safeParse(settings);
  if (success) return data;
  throw new ChannelSettingsError(error.issues.flatMap((issue) => problemsOf(issue, settings)));
}

function problemsOf(issue: z.core.$ZodIssue, settings: object): SettingsProblem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((field) => ({
      field,
      takes: "nothing: there is no such setting",
      got: describe(Reflect.get(settings, field)),
    }));
  }
  const field = String(issue.path[0] ?? "settings");
  return [{ field, takes: issue.message, got: describe(Reflect.get(settings, field)) }];
}

function describe(value: unknown): string {
  if (value === undefined || value === null || value === "") return "nothing";
  if (typeof value === "string") return `a text of ${value.length} characters`;
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
