import { setTimeout as delay } from "node:timers/promises";
import { clickGrants } from "@sluice/click-store/access.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { giveLogin } from "@sluice/link-store/access.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { describe, expect, test } from "vitest";
import { startIngester } from "./testing/ingester-process.ts";
import { openJournal, seeded } from "./testing/journal.ts";

/** A Postgres that can be killed and started again at its address. */
async function openServer() {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await tempDir());
  let server = await startPostgres({ dataDir, log: silentLog });
  stack.defer(() => server[Symbol.asyncDispose]());
  const { url, port } = server;
  const opened = stack.move();
  return {
    url,
    async kill() {
      server.kill("SIGKILL");
      await server.exited;
    },
    async start() {
      server = await startPostgres({ dataDir, port, log: silentLog });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Rows, different clicks among them, and numbers of the one run that are not there. */
async function counts(url: string): Promise<object | undefined> {
  const [row] = await queryPostgres(
    url,
    `SELECT count(*)::int AS rows, count(DISTINCT event_id)::int AS unique, (max(edge_seq) - count(*))::int AS gaps
     FROM clicks`,
  );
  return row;
}

describe("the ingester on Postgres", () => {
  test("killed again and again, and Postgres too, while clicks come, it has each click in the table once", async () => {
    await using journal = await openJournal();
    await using server = await openServer();
    await migrate(server.url, { log: silentLog });
    const login = { user: "ingester", password: "secret" };
    await giveLogin(server.url, login, await clickGrants("ingester"));
    const settings = {
      EVENT_LOG_URL: journal.url,
      CLICK_STORE_URL: Object.assign(new URL(server.url), { username: login.user, password: login.password })
        .href,
      // Small batches: most moments are between two steps of one.
      BATCH_MIN_ROWS: "1",
      BATCH_MAX_ROWS: "300",
      BATCH_MAX_WAIT_MS: "1",
    };
    const random = seeded(20_261_201);
    const enough = new AbortController();
    async function clicksCome(): Promise<void> {
      while (!enough.signal.aborted) {
        await journal.append(30);
        await delay(15);
      }
    }
    async function kill(): Promise<void> {
      for (let life = 0; life < 12; life += 1) {
        await using ingester = startIngester(settings);
        await ingester.said("operations server listening");
        await delay(random() * 800);
        if (life % 3 === 2) {
          await server.kill();
          await delay(random() * 300);
        }
        ingester.kill("SIGKILL");
        if (life % 3 === 2) await server.start();
      }
      enough.abort();
    }
    await Promise.all([clicksCome(), kill()]);
    await using _ = startIngester({ ...settings, BATCH_MAX_ROWS: "5000" });
    const rows = journal.appended();
    await expect.poll(() => counts(server.url), { timeout: 60_000 }).toMatchObject({ rows });
    expect(await counts(server.url)).toEqual({ rows, unique: rows, gaps: 0 });
  });

  test("without tables it waits, not ready; a click that the table refuses is kept, the others are stored", async () => {
    await using journal = await openJournal();
    await journal.append(1_000);
    await using server = await openServer();
    await using ingester = startIngester({ EVENT_LOG_URL: journal.url, CLICK_STORE_URL: server.url });
    await expect
      .poll(async () => (await ingester.readiness()).body, { timeout: 30_000 })
      .toMatch(/migrations have to be run/);
    expect((await ingester.readiness()).status).toBe(503);
    await migrate(server.url, { log: silentLog });
    await expect.poll(() => counts(server.url)).toEqual({ rows: 1_000, unique: 1_000, gaps: 0 });

    await queryPostgres(server.url, "ALTER TABLE click_events ADD CHECK (edge_seq NOT IN (1007, 1500))");
    await journal.append(1_000);
    await expect.poll(() => counts(server.url)).toEqual({ rows: 1_998, unique: 1_998, gaps: 2 });
    const letters = await queryPostgres(
      server.url,
      "SELECT edge_seq::int, reason, error FROM click_dead_letters ORDER BY edge_seq",
    );
    expect(letters).toEqual(
      [1_007, 1_500].map((edge_seq) => ({
        edge_seq,
        reason: "refused-by-table",
        error: "code 23514: a value is refused, constraint click_events_edge_seq_check",
      })),
    );
    await expect.poll(async () => (await ingester.readiness()).status).toBe(200);
  });
});
