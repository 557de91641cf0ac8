import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import { choosePort } from "@sluice/local-services/port.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

import { keepApp, type KeptApp } from "../keep-app.ts";
import { makeTarget, sluice } from "../sluice.ts";
import { stopMerges } from "../verdict.ts";
import { startReceiver } from "../webhook-soak/receiver.ts";
import { type LogKind, openServers } from "./servers.ts";

export interface Layout {
  readonly log: LogKind;
  /** An edge each. */
  readonly regions: readonly string[];
  /** How many of each. */
  readonly ingesters: number;
  readonly dispatchers: number;
}

export interface Edge {
  readonly name: string;
  /** Where visitors are answered. */
  readonly port: number;
  readonly app: KeptApp;
}

const workspace = "default";
/** Where the endpoint of a customer listens at the receiver. */
export const hook = "/hook";
const partitions = "4";
/** Long enough for three apps to start at once on a busy machine. */
const startWithinMs = 60_000;

/** A link, a customer's endpoint, and all that answers, stores and delivers its clicks, on this machine. */
export async function openInstallation(layout: Layout) {
  await using stack = new AsyncDisposableStack();
  const { path: dir } = stack.use(await tempDir());
  const servers = stack.use(await openServers({ dir, log: layout.log }));
  const receiver = stack.use(await startReceiver());
  const addresses = {
    DATABASE_URL: servers.postgres.url,
    CLICK_STORE_URL: `${servers.clickhouse.url}/default`,
    EVENT_LOG_URL: servers.eventLogUrl,
    REDIS_URL: servers.redis.url,
    SECRET_KEYS: randomBytes(32).toString("base64"),
  };
  await sluice(addresses, "migrate");
  await sluice(addresses, "topics", "--partitions", partitions);
  await sluice(addresses, "link", "create", "https://example.com/", "--slug", "demo");
  const query = (statement: string) => servers.clickhouse.ask(statement);
  await stopMerges({ store: "clickhouse", query });

  const edges: Edge[] = [];
  for (const name of layout.regions) edges.push(await startEdge(name, `${dir}/${name}`, addresses));
  const ingesters = Array.from({ length: layout.ingesters }, () => startIngester(addresses));
  const dispatchers = Array.from({ length: layout.dispatchers }, () => startDispatcher(addresses));
  const apps = [...edges.map(({ app }) => app), ...ingesters, ...dispatchers];
  for (const app of apps) stack.use(app);
  await Promise.all(apps.map(untilReady));
  await makeTarget(addresses, "endpoint", `${receiver.url}${hook}`, workspace);
  const opened = stack.move();
  return {
    dir,
    addresses,
    servers,
    receiver,
    edges,
    ingesters,
    dispatchers,
    apps,
    query,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type Installation = Awaited<ReturnType<typeof openInstallation>>;
type Addresses = Readonly<Record<"DATABASE_URL" | "CLICK_STORE_URL" | "EVENT_LOG_URL", string>>;

/** Rejects when it takes too long. */
async function untilReady(app: KeptApp): Promise<void> {
  for (const deadline = performance.now() + startWithinMs; performance.now() < deadline; await delay(50))
    if ((await app.metric("sluice_ready")) === 1) return;
  throw new Error(`not ready in time:\n${app.story.slice(-20).join("\n")}`);
}

async function startEdge(name: string, journalDir: string, addresses: Addresses): Promise<Edge> {
  const port = await choosePort(name, "127.0.0.1", undefined);
  const app = keepApp("edge-redirect", {
    ...addresses,
    EDGE_NAME: name,
    JOURNAL_DIR: journalDir,
    JOURNAL_RESERVE: "0",
    HOST: "127.0.0.1",
    PORT: String(port),
    OPS_PORT: "0",
  });
  return { name, port, app };
}

function startIngester(addresses: Addresses): KeptApp {
  return keepApp("click-ingester", { ...addresses, OPS_PORT: "0", BATCH_MAX_WAIT_MS: "1000" });
}

function startDispatcher(addresses: Addresses): KeptApp {
  return keepApp("webhook-dispatcher", {
    ...addresses,
    OPS_PORT: "0",
    ALLOW_HTTP: "true",
    ALLOWED_PORTS: "any",
  });
}
