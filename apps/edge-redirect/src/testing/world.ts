import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type { ClickEvent, RefusedRange } from "@sluice/click-event/click-event.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import type { Link, LinkStore, NewLink } from "@sluice/link-store/link-store.ts";
import { migrate } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { asRole, makeRole } from "@sluice/link-store/testing/roles.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { type TestPostgres, testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

import { type EdgeOptions, type EdgeProcess, startEdge } from "./edge-process.ts";

/** What an edge needs around it: links in a Postgres, and a directory for its journal. */
export interface World extends AsyncDisposable {
  readonly postgres: TestPostgres;
  readonly store: LinkStore;
  readonly link: (slug: string, link?: Partial<NewLink>) => Promise<Link>;
}

export async function openWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  await migrate(postgres.url, { log: silentLog });
  await makeRole(postgres.url, "edge");
  const store = stack.use(openLinkStore(postgres.url, { log: silentLog }));
  await store.ensureDomain("go.example.com", "test");
  await store.markVerified("go.example.com");
  const opened = stack.move();
  return {
    postgres,
    store,
    link: (slug, link = {}) =>
      store.create({ domain: "go.example.com", slug, destination: `https://example.com/${slug}`, ...link }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A journal that edges write and nobody else reads, until `readJournal`. */
export interface Journal extends AsyncDisposable {
  readonly dir: string;
  start(options?: Partial<EdgeOptions>): Promise<EdgeProcess>;
  /** Whether a file is kept beside the journal. */
  has(name: string): Promise<boolean>;
  /** What is in such a file. */
  kept(name: string): Promise<string>;
  /** All that is in it, oldest run first. Commits, so that its segments may go. */
  read(): Promise<JournalContent>;
}

export interface JournalContent {
  readonly clicks: readonly ClickEvent[];
  readonly ranges: readonly RefusedRange[];
}

/** `parameters` are those of a `journal:` URL. */
export async function openJournal(databaseUrl: string, parameters = "reserveBytes=0"): Promise<Journal> {
  const folder = await tempDir();
  const dir = join(folder.path, "journal");
  const url = `journal://${dir}?groups=store&${parameters}`;
  return {
    dir,
    start({ env = {}, ...options } = {}) {
      // As the role that may do what an edge does, and nothing else.
      const database = asRole(env["DATABASE_URL"] ?? databaseUrl, "edge");
      return startEdge({ ...options, env: { EVENT_LOG_URL: url, ...env, DATABASE_URL: database } });
    },
    has: async (name) => (await readdir(dir)).includes(name),
    kept: (name) => readFile(join(dir, name), "utf8"),
    read: () => readLog(url, "clicks", "store"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** All that the group has not read yet. Commits. */
export async function readLog(url: string, topic: string, group: string): Promise<JournalContent> {
  const clicks: ClickEvent[] = [];
  const ranges: RefusedRange[] = [];
  await using log = await openEventLog(url, { log: silentLog, metrics: createMetrics() });
  const { signal } = new AbortController();
  await using reader = await log.open(topic, { group, until: "now", signal });
  for (;;) {
    const batch = await reader.next({
      minRecords: 1,
      maxRecords: 10_000,
      maxBytes: 16 * 1024 ** 2,
      maxWaitMs: 0,
    });
    if (batch === undefined) return { clicks, ranges };
    for (const { value } of batch.records) {
      const decoded = decodeRecord(value);
      if (decoded.kind === "undecodable")
        throw new Error(`an edge wrote what is no event: ${decoded.detail}`);
      if (decoded.kind === "click") clicks.push(decoded.event);
      else ranges.push(decoded.range);
    }
    await batch.commit();
  }
}

/** The numbers of each run: what is there, and what is missing below the highest one. */
export function numbersByRun({
  clicks,
  ranges,
}: JournalContent): Map<string, { seen: number[]; missing: number[] }> {
  const seen = new Map<string, number[]>();
  const note = (run: string, seq: number) => {
    const numbers = seen.get(run);
    if (numbers === undefined) seen.set(run, [seq]);
    else numbers.push(seq);
  };
  for (const { edge_run, edge_seq } of clicks) note(edge_run, edge_seq);
  for (const { edge_run, from_seq, to_seq } of ranges) {
    for (let seq = from_seq; seq <= to_seq; seq += 1) note(edge_run, seq);
  }
  return new Map(
    [...seen].map(([run, numbers]) => {
      const present = new Set(numbers);
      const highest = numbers.reduce((max, seq) => Math.max(max, seq), 0);
      const missing: number[] = [];
      for (let seq = 1; seq <= highest; seq += 1) if (!present.has(seq)) missing.push(seq);
      return [run, { seen: numbers, missing }];
    }),
  );
}
