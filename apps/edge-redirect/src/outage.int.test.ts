import { startPostgres } from "@sluice/local-services/postgres.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { migrate } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { makeRole } from "@sluice/link-store/testing/roles.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, it } from "vitest";

import { visit } from "./testing/http.ts";
import { metric, readyz, until } from "./testing/ops.ts";
import { openJournal } from "./testing/world.ts";

const log = silentLog;

/** A Postgres with the links `demo` and `unseen` of go.example.com. */
async function startWithLinks(dataDir: string): Promise<LocalServer> {
  const server = await startPostgres({ dataDir, log });
  await migrate(server.url, { log });
  await makeRole(server.url, "edge");
  await using store = openLinkStore(server.url, { log });
  await store.ensureDomain("go.example.com", "test");
  await store.markVerified("go.example.com");
  for (const slug of ["demo", "unseen"]) {
    await store.create({ domain: "go.example.com", slug, destination: `https://example.com/${slug}` });
  }
  return server;
}

describeWith("an edge whose Postgres is killed", tempDir, (dir) => {
  it("promise 9: goes on with the links in memory, also after a restart, and takes none for unknown", async () => {
    await using resources = new AsyncDisposableStack();
    const server = resources.use(await startWithLinks(dir().path));
    const journal = resources.use(await openJournal(server.url));
    // No broker is there either; and so short a time that every visit finds the link past it.
    const env = {
      EVENT_LOG_URL: "kafka://127.0.0.1:1",
      JOURNAL_DIR: journal.dir,
      LINK_TTL_MS: "1",
      LINK_UNKNOWN_TTL_MS: "1",
      HOT_LINKS_EVERY_MS: "100",
      SHIP_DRAIN_MS: "0",
    };
    const before = resources.use(await journal.start({ env }));
    const redirected = { status: 302, headers: { location: "https://example.com/demo" } };
    expect(await visit(before.port, "/demo")).toMatchObject(redirected);
    expect(await visit(before.port, "/nothing")).toMatchObject({ status: 404 });

    await until("it is ready", async () => (await readyz(before)).ready);
    server.kill("SIGKILL");
    await server.exited;
    await until(
      "its backends are gone too",
      async () => (await visit(before.port, "/unseen")).status === 503,
    );
    for (let visits = 0; visits < 100; visits += 1) {
      expect(await visit(before.port, "/demo")).toMatchObject(redirected);
      expect(await visit(before.port, "/unseen")).toMatchObject({
        status: 503,
        headers: { "retry-after": "5" },
      });
    }
    await expect.poll(() => readyz(before)).toMatchObject({ ready: true, report: { status: "degraded" } });
    await until("the hottest links are kept", async () => await journal.has("hot-links.ndjson"));

    // Not by the closing of the edge, which would write them too.
    before.kill("SIGKILL");
    await before.exited;
    const after = resources.use(await journal.start({ env }));
    await until("it is ready", async () => (await readyz(after)).ready);
    expect(await visit(after.port, "/demo")).toMatchObject(redirected);
    expect(await visit(after.port, "/unseen")).toMatchObject({ status: 503 });
    expect(await metric(after, "edge_clicks_accepted_total")).toBe(1);

    resources.use(await startPostgres({ dataDir: dir().path, port: server.port, log }));
    await until(
      "a link that was not in memory redirects",
      async () => (await visit(after.port, "/unseen")).status === 302,
    );
  });
});

describeWith("an edge without Postgres and without a link in memory", tempDir, (dir) => {
  it("waits alive and not ready, saying so once a minute, and is ready once Postgres is there", async () => {
    await using resources = new AsyncDisposableStack();
    const first = await startWithLinks(dir().path);
    await first[Symbol.asyncDispose]();
    const journal = resources.use(await openJournal(first.url));
    const edge = resources.use(await journal.start());
    await until("it has tried several times", async () => edge.output().includes("postgres"));
    expect(await readyz(edge)).toMatchObject({ ready: false, report: { status: "starting" } });
    expect(await visit(edge.port, "/demo")).toMatchObject({ status: 503 });
    expect(edge.output().match(/"what":"postgres"/g)).toHaveLength(1);

    resources.use(await startPostgres({ dataDir: dir().path, port: first.port, log }));
    await until("it is ready", async () => (await readyz(edge)).ready);
    await until("it redirects", async () => (await visit(edge.port, "/demo")).status === 302);
  });
});
