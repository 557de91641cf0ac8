import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LinkOptions } from "@sluice/link-store/link-options.ts";
import type { NewLink } from "@sluice/link-store/link-store.ts";
import { migrate } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { type App, startApp } from "./app.ts";
import type { Bench } from "./benchmark.ts";
import { createLinks, type ShortLink } from "./links.ts";
import { seeded } from "./random.ts";
import { createRequests, separator } from "./requests.ts";

/** Links in a Postgres of their own, and requests for them. */
export interface Site extends AsyncDisposable {
  /** For what else belongs to it; removed with it. */
  readonly dir: string;
  readonly databaseUrl: string;
  readonly links: readonly ShortLink[];
  readonly requests: readonly string[];
  /** The same in a file, for wrk. */
  readonly requestsPath: string;
  /** Where the edges of this site write: the journal is their event log. */
  readonly journalUrl: string;
  /** Starts an edge on these links. */
  startEdge(options: EdgeOptions): Promise<Edge>;
}

export interface EdgeOptions {
  readonly capture: "on" | "off";
  readonly core?: number | undefined;
  /** Processes that answer visitors; one unless said. */
  readonly workers?: number;
  /** Where its clicks go; without it the journal is the event log. */
  readonly eventLogUrl?: string;
}

export interface Edge {
  readonly app: App;
  /** Where it answers visitors. */
  readonly port: number;
}

/** To which all its domains belong. */
export const workspaceName = "bench";

/** Enough that wrk does not send the same ones again within some milliseconds. */
const requestCount = 20_000;

/** `options` are those of all its links. */
export async function openSite(bench: Bench, linkCount: number, options: LinkOptions = {}): Promise<Site> {
  await using resources = new AsyncDisposableStack();
  const { path: dir } = resources.use(await tempDir());
  const random = seeded(2);
  const links = createLinks(random, linkCount);
  const requests = createRequests(random, links, requestCount);
  const requestsPath = join(dir, "requests");
  await writeFile(requestsPath, requests.map((request) => request + separator).join(""));
  const postgres = resources.use(await startPostgres({ dataDir: join(dir, "postgres"), log: silentLog }));
  await migrate(postgres.url, { log: silentLog, signal: bench.signal });
  await storeLinks(
    postgres.url,
    links.map((link) => ({ ...options, ...link })),
    bench.signal,
  );

  const journalUrl = `journal://${join(dir, "journal")}?groups=store`;
  const edges = resources.use(new AsyncDisposableStack());
  const opened = resources.move();
  return {
    dir,
    databaseUrl: postgres.url,
    links,
    requests,
    requestsPath,
    journalUrl,
    async startEdge({ capture, core, workers = 1, eventLogUrl = journalUrl }) {
      const app = edges.use(
        await startApp(
          {
            name: "edge-redirect",
            core,
            env: {
              DATABASE_URL: postgres.url,
              EVENT_LOG_URL: eventLogUrl,
              JOURNAL_DIR: join(dir, "edge"),
              CAPTURE: capture,
              EDGE_WORKERS: String(workers),
              HOST: "127.0.0.1",
              PORT: "0",
              DRAIN_NOTICE_MS: "0",
              LOG_LEVEL: "info",
            },
          },
          bench,
        ),
      );
      return { app, port: await app.portOf("listening for visitors") };
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

async function storeLinks(url: string, links: readonly NewLink[], signal: AbortSignal): Promise<void> {
  const unsynced = new URL(url);
  // A hundred thousand commits, none of which has to survive a power cut.
  unsynced.searchParams.set("options", "-c synchronous_commit=off");
  await using store = openLinkStore(unsynced.href, { log: silentLog });
  for (const domain of new Set(links.map((link) => link.domain))) {
    await store.ensureDomain(domain, workspaceName);
    await store.markVerified(domain);
  }
  const left = links.values();
  // As many at a time as the store has connections.
  const lanes = Array.from({ length: 8 }, async () => {
    for (const link of left) {
      signal.throwIfAborted();
      await store.create(link);
    }
  });
  await Promise.all(lanes);
}
