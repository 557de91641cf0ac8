import { silentLog } from "@sluice/service/log.ts";
import { z } from "zod";
import type { DeliveryLimits, NewParked, Outgoing } from "../deliveries/delivery-store.ts";
import { openDeliveryStore } from "../deliveries/open-deliveries.ts";
import { targetId, type TargetPrefix } from "../targets/target-id.ts";
import type { TargetId } from "../targets/target.ts";
import { sql } from "./raw-postgres.ts";
import { openTestStore } from "./store.ts";

/** A time to start from; every clock of these tests is made up. */
export const t0 = 1_790_000_000_000;

/** A Postgres with workspaces 1 and 2, and two dispatchers' stores on it. */
export async function openDeliveryWorld(limits: Partial<DeliveryLimits> = {}) {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await openTestStore());
  const store = stack.use(openDeliveryStore(url, { log: silentLog, limits }));
  const other = stack.use(openDeliveryStore(url, { log: silentLog, limits }));
  const opened = stack.move();
  return {
    url,
    store,
    other,
    /** An endpoint that may be sent to. */
    endpoint: (workspaceId = 1) => insertEndpoint(url, workspaceId),
    /** What Postgres has of a target, counted and as it keeps count. */
    counts: (target: TargetId) => countRows(url, target),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const Ids = z.tuple([z.object({ id: z.coerce.number() })]);
const prefix: TargetPrefix = "ep";

async function insertEndpoint(url: string, workspaceId: number): Promise<TargetId> {
  const text = `
    INSERT INTO webhook_endpoints (workspace_id, url, verified_at)
    VALUES (${workspaceId}, 'https://a.example/', now()) RETURNING id`;
  return targetId(prefix, Ids.parse(await sql(url, text))[0].id);
}

const Counts = z.tuple([
  z.object({
    parked: z.coerce.number(),
    dead: z.coerce.number(),
    rows: z.coerce.number(),
    deadRows: z.coerce.number(),
  }),
]);

async function countRows(url: string, target: TargetId) {
  const text = `
    SELECT parked, dead,
      (SELECT count(*) FROM deliveries WHERE target = '${target}' AND dead_at IS NULL) AS rows,
      (SELECT count(*) FROM deliveries WHERE target = '${target}' AND dead_at IS NOT NULL) AS "deadRows"
    FROM delivery_targets WHERE target = '${target}'`;
  return Counts.parse(await sql(url, text))[0];
}

let events = 0;

export function eventOf(fields: Partial<Outgoing> = {}): Outgoing {
  events += 1;
  const digits = events.toString(16).padStart(12, "0");
  return {
    id: `01910000-0000-7000-8000-${digits}`,
    type: "link.clicked",
    workspaceId: 1,
    ts: t0,
    linkId: 7,
    visitor: "0123456789abcdef0123456789abcdef",
    body: `{"v":1,  "n":${events}, "user_agent":"a \\u0000 and 😀"}`,
    ...fields,
  };
}

export function parked(target: TargetId, fields: Partial<NewParked> = {}): NewParked {
  return { target, event: eventOf(), made: 1, replayed: false, dueAt: t0, ...fields };
}

/** `count` of them, due one ms after another. */
export function parkedMany(target: TargetId, count: number): NewParked[] {
  return Array.from({ length: count }, (_, index) => parked(target, { dueAt: t0 + index }));
}
