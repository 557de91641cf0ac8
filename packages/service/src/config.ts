import { z } from "zod";

import { durationMs, fieldFacts, host, port } from "./config-fields.ts";
import { maskText } from "./mask.ts";
import { ServiceError } from "./service-error.ts";

/** What every service takes. A service that needs another default declares the field again in its own object. */
export const BaseConfig = z.object({
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info").describe("The least that is logged."),
  OPS_HOST: host()
    .default("127.0.0.1")
    .describe("Where `/livez`, `/readyz` and `/metrics` listen; `0.0.0.0` in a container."),
  OPS_PORT: port().default(9100).describe("The port of `/livez`, `/readyz` and `/metrics`."),
  DRAIN_TIMEOUT_MS: durationMs({ min: 1 })
    // Kubernetes kills 30 s after it has asked.
    .default(25_000)
    .describe("How long work in hand may take after a request to stop; then the process leaves without it."),
});
export type BaseConfig = z.output<typeof BaseConfig>;

/**
 * The service's own fields and the base fields, from the environment. An empty variable counts as unset. Throws a
 * ServiceError `config` that lists every problem, a line each, with secrets hidden.
 */
export function readConfig<Own extends z.ZodObject>(
  name: string,
  Own: Own,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): z.output<Own> & BaseConfig {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  const givenToBase = Object.fromEntries(
    Object.entries(given).filter(([variable]) => !Object.hasOwn(Own.shape, variable)),
  );
  // Each object by itself, because one that is extended loses its checks across fields.
  const own = Own.safeParse(given);
  const base = BaseConfig.safeParse(givenToBase);
  if (own.success && base.success) return { ...base.data, ...own.data };
  const problems = [
    ...(own.error?.issues ?? []).map((issue) => problem(Own.shape, given, issue)),
    ...(base.error?.issues ?? []).map((issue) => problem(BaseConfig.shape, given, issue)),
  ];
  const heading = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  throw new ServiceError("config", `${name}: ${heading} in the configuration\n  ${problems.join("\n  ")}`);
}

/** The variable, what it takes, what it got. */
function problem(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  given: Readonly<Record<string, string | undefined>>,
  issue: z.core.$ZodIssue,
): string {
  const variable = String(issue.path[0] ?? "");
  const field = shape[variable];
  // A check across fields that names none of them.
  if (field === undefined) return issue.message;
  const { takes, secret } = fieldFacts(field);
  const hasOwnWords = issue.code === "custom" && issue.message !== "Invalid input";
  return `${variable}${hasOwnWords ? `: ${issue.message}` : ` takes ${takes}`}, got ${shown(given[variable], secret)}`;
}

function shown(value: string | undefined, isSecret: boolean): string {
  if (value === undefined) return "nothing";
  if (isSecret) return `*** (${value.length} characters)`;
  return JSON.stringify(maskText(value.length > 200 ? `${value.slice(0, 200)}…` : value));
}
