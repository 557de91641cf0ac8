import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import type { S3Keys } from "@sluice/event-log/archive-s3-keys.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Config } from "./config.ts";
import type { ServiceAddress } from "./setup/access.ts";

/** What `npm start` notes in its data directory while it runs. */
const Running = z.object({
  databaseUrl: z.string(),
  clickStoreUrl: z.string(),
  edgeUrl: z.string(),
  eventLogUrl: z.string().optional(),
  secretKeys: z.string().optional(),
});

export interface Addresses {
  /** Where an operations port listens. */
  readonly opsHost: string;
  /** Those in Postgres that are set. */
  readonly services: readonly ServiceAddress[];
  databaseUrl(): Promise<string>;
  /** The same past a pooler, where one stands in front of it. */
  directDatabaseUrl(): Promise<string>;
  clickStoreUrl(): Promise<string>;
  eventLogUrl(): Promise<string>;
  /** Those under which credentials are kept in Postgres. */
  secretKeys(): Promise<readonly string[]>;
  /** Those of an archive's storage. */
  s3Keys(): S3Keys;
  /** What carries the live feed. */
  messagesUrl(): Promise<string>;
  /** Where links of `localhost` are served; undefined when nothing runs here. */
  edgeUrl(): Promise<string | undefined>;
}

/** What is configured, else what runs on this machine. Rejects with a ServiceError when there is neither. */
export function createAddresses(config: Config): Addresses {
  const path = join(config.SLUICE_DATA_DIR, "running.json");
  async function running() {
    const text = await readFile(path, "utf8").catch(() => undefined);
    return text === undefined ? undefined : Running.parse(JSON.parse(text));
  }
  async function required(
    variable: "DATABASE_URL" | "CLICK_STORE_URL" | "EVENT_LOG_URL",
    name: "databaseUrl" | "clickStoreUrl" | "eventLogUrl",
  ) {
    const address = config[variable] ?? (await running())?.[name];
    if (address !== undefined) return address;
    throw missing(variable);
  }
  const directDatabaseUrl = async () =>
    config.DATABASE_DIRECT_URL ?? (await required("DATABASE_URL", "databaseUrl"));
  function missing(variable: string): ServiceError {
    return new ServiceError(
      "config",
      `nothing runs on the data directory ${config.SLUICE_DATA_DIR}: run \`npm start\`, or set ${variable}`,
    );
  }
  return {
    opsHost: config.OPS_HOST,
    services: servicesOf(config),
    databaseUrl: () => required("DATABASE_URL", "databaseUrl"),
    directDatabaseUrl,
    clickStoreUrl: () => required("CLICK_STORE_URL", "clickStoreUrl"),
    eventLogUrl: () => required("EVENT_LOG_URL", "eventLogUrl"),
    async secretKeys() {
      const keys = config.SECRET_KEYS ?? (await running())?.secretKeys?.split(",");
      if (keys === undefined) throw missing("SECRET_KEYS");
      return keys;
    },
    s3Keys: () => config,
    messagesUrl: async () => config.REDIS_URL ?? (await directDatabaseUrl()),
    edgeUrl: async () => (await running())?.edgeUrl,
  };
}

function servicesOf(config: Config): ServiceAddress[] {
  const of = <Part extends object>(variable: keyof Config & `${string}_URL`, part: Part) => {
    const url = config[variable];
    return url?.startsWith("postgres") === true ? [{ variable, url, ...part }] : [];
  };
  return [
    ...of("EDGE_DATABASE_URL", { store: "links", service: "edge" } as const),
    ...of("INGESTER_DATABASE_URL", { store: "links", service: "ingester" } as const),
    ...of("DISPATCHER_DATABASE_URL", { store: "links", service: "dispatcher" } as const),
    ...of("INGESTER_CLICK_STORE_URL", { store: "clicks", service: "ingester" } as const),
    ...of("DISPATCHER_CLICK_STORE_URL", { store: "clicks", service: "dispatcher" } as const),
  ];
}
