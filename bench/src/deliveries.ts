import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import { encodeEnriched } from "@sluice/click-event/encode.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import type { EventLog, NewRecord } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { migrate as migrateLinks } from "@sluice/link-store/migrate.ts";
import type { LinkStore } from "@sluice/link-store/link-store.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { openTargetStore } from "@sluice/link-store/targets/open-targets.ts";
import type { EndpointParts } from "@sluice/link-store/targets/target-store.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";
import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { startApp } from "./app.ts";
import type { Bench } from "./benchmark.ts";
import { createClicks } from "./clicks.ts";

const keys = [Buffer.alloc(32, 7).toString("base64")];
export const topic = "clicks.fanout";
/** An endpoint may want the clicks of one of them. */
export const linkCount = 1_000;

export interface Link {
  readonly workspaceId: number;
  readonly linkId: number;
}

/** A Postgres, a topic in a journal, and what delivers from one to the receivers; its links are so many workspaces'. */
export async function openDeliveries(bench: Bench, workspaces = 1) {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const server = stack.use(await startPostgres({ dataDir: join(path, "postgres"), log: silentLog }));
  bench.against("Postgres from npm, which holds what is parked and the delivery log");
  await migrateLinks(server.url, { log: silentLog });
  await migrateClicks(server.url, { log: silentLog });
  const ownLinks = await createLinks(stack.use(openLinkStore(server.url, { log: silentLog })), workspaces);
  const targets = stack.use(
    openTargetStore(server.url, { log: silentLog, keys, quotas: { endpoints: 100_000 } }),
  );
  const opened = stack.move();
  let topics = 0;
  return {
    url: server.url,
    query: (text: string) => queryPostgres(server.url, text),
    links: ownLinks,
    /** An endpoint for each of these links that may be sent to, in their order. */
    async endpoints(
      of: readonly Link[],
      partsOf: (number: number) => Pick<EndpointParts, "url"> & Partial<EndpointParts>,
    ) {
      await queryPostgres(server.url, "DELETE FROM webhook_endpoints");
      for (const [index, { workspaceId, linkId }] of of.entries())
        await targets.create(
          workspaceId,
          { kind: "webhook", filter: { linkIds: [linkId] }, ...partsOf(index + 1) },
          Date.now(),
        );
      await queryPostgres(
        server.url,
        "UPDATE webhook_endpoints SET verified_at = now(), allow_private = true",
      );
    },
    /** A topic of its own, which no dispatcher has read. */
    async openTopic(): Promise<EventLog & { readonly url: string }> {
      const url = `journal://${path}/${(topics += 1)}?groups=dispatcher&minAgeMs=0`;
      const log = await openEventLog(url, { log: silentLog, metrics: createMetrics() });
      return Object.assign(log, { url });
    },
    dispatcher: (eventLogUrl: string, env: Readonly<Record<string, string>> = {}) =>
      startApp(
        {
          name: "webhook-dispatcher",
          env: {
            EVENT_LOG_URL: eventLogUrl,
            FANOUT_LOG_URL: eventLogUrl,
            DATABASE_URL: server.url,
            CLICK_STORE_URL: server.url,
            SECRET_KEYS: keys.join(","),
            ALLOW_HTTP: "true",
            ALLOWED_PORTS: "any",
            // All receivers are on this machine.
            MAX_IN_FLIGHT_PER_HOST: "10000",
            MAX_PER_SECOND_PER_HOST: "1000000",
            ...env,
          },
        },
        bench,
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function createLinks(store: LinkStore, workspaces: number): Promise<readonly Link[]> {
  const links: Link[] = [];
  for (let number = 0; number < workspaces; number += 1) {
    const domain = `go${number}.example`;
    const { workspaceId } = await store.ensureDomain(domain, `bench ${number}`);
    for (let own = 0; own < linkCount / workspaces; own += 1) {
      const { id } = await store.create({ domain, destination: "https://example.com/" });
      links.push({ workspaceId, linkId: id });
    }
  }
  return links;
}

export type Deliveries = Awaited<ReturnType<typeof openDeliveries>>;

/** Clicks as the ingester fans them out, of each of these links in turn. */
export function createFannedOut(links: readonly Link[]) {
  const clicks = createClicks({ edges: 1, total: 1 });
  const enrich = createEnricher({ cacheSize: 1_000 });
  let place = 0;
  return (count: number): NewRecord[] =>
    Array.from({ length: count }, () => {
      const { workspaceId, linkId } = links[(place += 1) % links.length] ?? { workspaceId: 0, linkId: 0 };
      const event = {
        ...clicks.event(),
        workspace_id: workspaceId,
        link_id: linkId,
        // Of now: it is told how long a delivery took.
        ts: Date.now(),
      };
      return { key: event.event_id, value: encodeEnriched(event, { ...enrich(event), is_bot: false }) };
    });
}

export interface Receivers extends AsyncDisposable {
  /** Each path is an endpoint of its own. */
  readonly url: string;
}

/** One server on loopback. `answer` is given the path and the body once it has come. */
export async function openReceivers(
  answer: (path: string, body: string, response: ServerResponse) => void,
): Promise<Receivers> {
  const server = createServer((request: IncomingMessage, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("error", () => {});
    request.on("end", () => answer(request.url ?? "/", body, response));
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}
