import { randomUUID } from "node:crypto";
import { clickGrants } from "@sluice/click-store/access.ts";
import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import type { NewRecord } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import { migrate as migrateLinks } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { openTargetStore } from "@sluice/link-store/targets/open-targets.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";
import type { EndpointParts } from "@sluice/link-store/targets/target-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { type AppProcess, startApp } from "@sluice/testkit/app-process.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { sql } from "@sluice/link-store/testing/raw-postgres.ts";
import { asRole, makeRole } from "@sluice/link-store/testing/roles.ts";

// For tests: a Postgres with the tables of everything, a journal that holds the topic, and dispatchers as processes.

const deps = { log: silentLog, metrics: createMetrics() };
const key = Buffer.alloc(32, 7).toString("base64");

export async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const postgres = stack.use(await testPostgres());
  await migrateLinks(postgres.url, deps);
  await migrateClicks(postgres.url, deps);
  await makeRole(postgres.url, "dispatcher", await clickGrants("dispatcher"));
  const links = stack.use(openLinkStore(postgres.url, deps));
  const { workspaceId } = await links.ensureDomain("go.example", "one");
  const targets = stack.use(openTargetStore(postgres.url, { log: silentLog, keys: [key] }));
  const deliveries = stack.use(openDeliveryStore(postgres.url, deps));
  const url = `journal://${path}?groups=dispatcher&minAgeMs=0`;
  const log = stack.use(await openEventLog(url, deps));
  let topic = "clicks.fanout";
  const opened = stack.move();
  return {
    postgresUrl: postgres.url,
    key,
    workspaceId,
    targets,
    deliveries,
    /** What the ingester would append. */
    append: (records: readonly NewRecord[]) => log.append(topic, records),
    /** Whatever an earlier test has left is nobody's from now on. */
    async startAfresh() {
      topic = `clicks.${randomUUID()}`;
      await sql(postgres.url, "DELETE FROM webhook_endpoints; DELETE FROM pixels; DELETE FROM deliveries");
    },
    /** An endpoint that may be sent to, on loopback. */
    async endpoint(receiverUrl: string, parts: Partial<EndpointParts> = {}): Promise<Target> {
      const endpoint = { kind: "webhook", url: receiverUrl, ...parts } as const;
      const created = await targets.create(workspaceId, endpoint, Date.now());
      await targets.allowPrivate(created.id, true);
      await sql(postgres.url, "UPDATE webhook_endpoints SET verified_at = now()");
      return created;
    },
    /** A pixel that may be sent to, on loopback; it names the click in its path. */
    async pixel(receiverUrl: string): Promise<Target> {
      const pixel = { kind: "pixel", url: `${receiverUrl}/{event_id}` } as const;
      const created = await targets.create(workspaceId, pixel, Date.now());
      await targets.allowPrivate(created.id, true);
      await sql(postgres.url, "UPDATE pixels SET verified_at = now()");
      return created;
    },
    /** Where the journal is. */
    path,
    start(environment: Readonly<Record<string, string>> = {}): AppProcess {
      const own = { EVENT_LOG_URL: url, FANOUT_LOG_URL: url, FANOUT_TOPIC: topic, ...environment };
      return startApp(new URL("../main.ts", import.meta.url), environmentOn(postgres.url, own));
    },
    /** What waits becomes due, as if time had passed: leases and pauses have ended. Not before now: what is long overdue is swept away. */
    async letAllBeDue(which: "true" | "lease IS NULL" = "true") {
      await sql(
        postgres.url,
        `UPDATE deliveries SET due_at = ${Date.now()} WHERE dead_at IS NULL AND due_at > ${Date.now()} AND ${which}`,
      );
      await sql(postgres.url, "UPDATE delivery_targets SET paused_until = NULL");
    },
    sql: (text: string) => sql(postgres.url, text),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

function environmentOn(postgresUrl: string, own: Readonly<Record<string, string>>) {
  const { DATABASE_URL = postgresUrl, CLICK_STORE_URL = postgresUrl } = own;
  return {
    SECRET_KEYS: key,
    ALLOW_HTTP: "true",
    ALLOWED_PORTS: "any",
    ...own,
    // As the role that may do what a dispatcher does, and nothing else.
    DATABASE_URL: asRole(DATABASE_URL, "dispatcher"),
    CLICK_STORE_URL: asRole(CLICK_STORE_URL, "dispatcher"),
  };
}
