import { fileURLToPath } from "node:url";

import { readConfig, BaseConfig } from "@sluice/service/config.ts";
import { describeFields } from "@sluice/service/config-fields.ts";
import { z } from "zod";

import { type Container, type Manifest, ofKind } from "./manifest.ts";

const root = new URL("../../../", import.meta.url);

/** What a Secret may say; which of them an app is given stands in its manifest. */
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://user:password@postgres:5432/sluice",
  DATABASE_DIRECT_URL: "postgres://user:password@postgres:5432/sluice",
  EVENT_LOG_URL: "kafka://kafka:9092",
  CLICK_STORE_URL: "http://user:password@clickhouse:8123/sluice",
  REDIS_URL: "redis://:password@redis:6379/0",
  VARIANT_KEY: "v".repeat(32),
  SECRET_KEYS: Buffer.alloc(32).toString("base64"),
};

/** The environment of a container. Rejects with what Kubernetes would leave out or take literally. */
function environmentOf(
  { env, envFrom }: Container,
  manifests: readonly Manifest[],
): { variables: Record<string, string>; helpers: ReadonlySet<string> } {
  const variables: Record<string, string> = {};
  const helpers = new Set<string>();
  for (const { configMapRef } of envFrom) {
    const found = ofKind(manifests, "ConfigMap").find(({ metadata }) => metadata.name === configMapRef.name);
    if (found === undefined) throw new Error(`there is no ConfigMap ${configMapRef.name}`);
    Object.assign(variables, found.data);
  }
  const before = new Map<string, string>();
  for (const { name, value, valueFrom } of env) {
    // Setup is given the others' addresses, too.
    const key = valueFrom?.secretKeyRef?.key.replace(/^(?:EDGE|INGESTER|DISPATCHER)_/, "");
    if (key !== undefined && secrets[key] === undefined)
      throw new Error(`${name}: nobody knows a secret ${key}`);
    const given = key === undefined ? (value ?? "edge-0") : (secrets[key] ?? "");
    // Only what stands before it is put in its place.
    const expanded = given.replaceAll(/\$\((\w+)\)/g, (_, other: string) => {
      helpers.add(other);
      const put = before.get(other);
      if (put === undefined) throw new Error(`${name}: $(${other}) is not defined before it`);
      return put;
    });
    before.set(name, expanded);
    variables[name] = expanded;
  }
  return { variables, helpers };
}

const imageOf = /^(?:[\w.-]+\/)*sluice\/([a-z-]+):([\w.-]+)$/;

export function appOf({ image }: Container): { app: string; version: string } {
  const [, app = "", version = ""] = imageOf.exec(image) ?? [];
  return { app, version };
}

/** An app's settings as it reads them from such a container. Rejects with its own words where it would refuse to start. */
export async function settingsOf(container: Container, manifests: readonly Manifest[]) {
  const { app } = appOf(container);
  const module: unknown = await import(fileURLToPath(new URL(`apps/${app}/src/config.ts`, root)));
  if (
    typeof module !== "object" ||
    module === null ||
    !("Config" in module) ||
    !(module.Config instanceof z.ZodObject)
  )
    throw new Error(`${container.image} is no app`);
  const { variables, helpers } = environmentOf(container, manifests);
  const known = new Set([...describeFields(module.Config).keys(), ...describeFields(BaseConfig).keys()]);
  const unknown = Object.keys(variables).filter((name) => !known.has(name) && !helpers.has(name));
  const settings: Readonly<Record<string, unknown>> = readConfig(app, module.Config, variables);
  return { app, settings, unknown };
}
