import { randomBytes } from "node:crypto";

import { choosePort } from "@sluice/local-services/port.ts";
import { testNginx } from "@sluice/testkit/nginx.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

import { keepApp, type KeptApp } from "../keep-app.ts";
import { makeTarget, sluice } from "../sluice.ts";
import { stopMerges } from "../verdict.ts";
import { startReceiver } from "../webhook-soak/receiver.ts";
import { untilReady } from "./apps.ts";
import { type LogKind, openLines, openServers } from "./servers.ts";

export interface Layout {
  readonly log: LogKind;
  /** An edge each. */
  readonly regions: readonly string[];
  /** The region that reaches broker, Postgres and Redis by lines that can be cut. */
  readonly far?: string;
  /** How many of each. */
  readonly ingesters: number;
  readonly dispatchers: number;
  /** Visitors come by way of it, to whichever edge it chooses. */
  readonly nginx?: boolean;
  /** The customer's server refuses one in thirty deliveries when they first come, so that they have to be parked. */
  readonly refuses?: boolean;
  /** What edges have besides, and what starts them: "$@" is the command. */
  readonly edge?: { readonly env: Readonly<Record<string, string>>; readonly shell?: string };
}

interface Edge {
  readonly name: string;
  /** Where visitors are answered. */
  readonly port: number;
  readonly app: KeptApp;
}

/** Where the endpoint of a customer listens at the receiver. */
export const hook = "/hook";

/** A link, a customer's endpoint, and all that answers, stores and delivers its clicks, on this machine. */
export async function openInstallation(layout: Layout) {
  await using stack = new AsyncDisposableStack();
  const { path: dir } = stack.use(await tempDir());
  const servers = stack.use(await openServers({ dir, log: layout.log }));
  const lines = layout.far === undefined ? undefined : stack.use(await openLines(servers));
  const receiver = stack.use(await startReceiver(...(layout.refuses ? [{ seed: 1, only: "failed" }] : [])));
  const addresses = {
    DATABASE_URL: servers.postgres.url,
    CLICK_STORE_URL: `${servers.clickhouse.url}/default`,
    EVENT_LOG_URL: servers.eventLogUrl,
    REDIS_URL: servers.redis.url,
    SECRET_KEYS: randomBytes(32).toString("base64"),
  };
  await sluice(addresses, "migrate");
  await sluice(addresses, "topics", "--partitions", "4");
  await sluice(addresses, "link", "create", "https://example.com/", "--slug", "demo");
  const query = (statement: string) => servers.clickhouse.ask(statement);
  await stopMerges({ store: "clickhouse", query });

  const edges: Edge[] = [];
  for (const name of layout.regions) {
    const reached = { ...addresses, ...(name === layout.far && lines?.addresses) };
    edges.push(await startEdge(name, `${dir}/${name}`, reached, layout));
  }
  const ingesters = Array.from({ length: layout.ingesters }, () => ingesterOf(addresses));
  const dispatchers = Array.from({ length: layout.dispatchers }, () => dispatcherOf(addresses));
  const apps = [...edges.map(({ app }) => app), ...ingesters, ...dispatchers];
  for (const app of apps) stack.use(app);
  await Promise.all(apps.map(untilReady));
  const [endpoint = ""] = await makeTarget(addresses, "endpoint", `${receiver.url}${hook}`);
  const entrances = layout.nginx
    ? [{ name: "all", port: stack.use(await openNginx(edges)).port }]
    : edges.map(({ name, port }) => ({ name, port }));
  const opened = stack.move();
  return {
    dir,
    addresses,
    servers,
    lines,
    receiver,
    /** The customer's, by its id. */
    endpoint,
    edges,
    ingesters,
    dispatchers,
    apps,
    /** Where visitors come in. */
    entrances,
    query,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type Installation = Awaited<ReturnType<typeof openInstallation>>;
type Addresses = Readonly<Record<"DATABASE_URL" | "CLICK_STORE_URL" | "EVENT_LOG_URL", string>>;

async function startEdge(
  name: string,
  journalDir: string,
  addresses: Addresses,
  { edge }: Layout,
): Promise<Edge> {
  const port = await choosePort(name, "127.0.0.1", undefined);
  const environment = {
    ...addresses,
    EDGE_NAME: name,
    JOURNAL_DIR: journalDir,
    JOURNAL_RESERVE: "0",
    HOST: "127.0.0.1",
    PORT: String(port),
    OPS_PORT: "0",
    ...edge?.env,
  };
  return { name, port, app: keepApp("edge-redirect", environment, edge?.shell) };
}

/** With its servers away for good nothing that it waits for comes. */
const patience = { DRAIN_TIMEOUT_MS: "5000" };

function ingesterOf(addresses: Addresses): KeptApp {
  return keepApp("click-ingester", { ...addresses, ...patience, OPS_PORT: "0", BATCH_MAX_WAIT_MS: "1000" });
}

function dispatcherOf(addresses: Addresses): KeptApp {
  const permissions = { ALLOW_HTTP: "true", ALLOWED_PORTS: "any" };
  return keepApp("webhook-dispatcher", { ...addresses, ...patience, ...permissions, OPS_PORT: "0" });
}

/** As docs/edge.md has it. */
async function openNginx(edges: readonly Edge[]) {
  const servers = edges.map(({ port }) => `server 127.0.0.1:${port} max_fails=0;`).join(" ");
  return await testNginx({
    upstream: `upstream edges { ${servers} keepalive 64; keepalive_timeout 60s; }`,
  });
}
