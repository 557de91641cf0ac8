import type { AuditRow } from "@sluice/link-store/audit-store.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";

import { createAuditor } from "./auditor.ts";
import { auditMetrics } from "./metrics.ts";

const row: AuditRow = { eventId: "1", ts: 1, workspaceId: 1, linkId: 1, event: "{}" };
const away = new LinkStoreError("unavailable", "Postgres: connection refused");

function open(answer: () => Promise<void>) {
  const world = { asked: 0, time: 0, degraded: "", answer };
  const auditor = createAuditor({
    store: {
      record: () => {
        world.asked += 1;
        return world.answer();
      },
    },
    metrics: auditMetrics(createMetrics()),
    health: { degraded: (_name, reason) => void (world.degraded = reason ?? "") },
    addsLateRows: true,
    now: () => world.time,
    random: () => 1,
  });
  return Object.assign(world, auditor);
}

test("a row that is written is said to be", async () => {
  const world = open(async () => {});
  expect(await world.record(row)).toBe(true);
  expect(world.degraded).toBe("");
});

test("a store that is away is asked once in a while, and by one visitor at a time, until it answers", async () => {
  const world = open(() => Promise.reject(away));
  expect(await world.record(row)).toBe(false);
  expect(world.degraded).toContain("connection refused");
  for (let visitor = 0; visitor < 100; visitor += 1) expect(await world.record(row)).toBe(false);
  expect(world.asked).toBe(1);

  const { promise, resolve } = Promise.withResolvers<void>();
  world.time = 101;
  world.answer = () => promise;
  const first = world.record(row);
  expect(await world.record(row)).toBe(false);
  expect(world.asked).toBe(2);
  resolve();
  expect(await first).toBe(true);
  expect(await world.record(row)).toBe(true);
  expect(world.degraded).toBe("");
});

test("rows on their way are bounded", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const world = open(() => promise);
  const records = Array.from({ length: 300 }, () => world.record(row));
  resolve();
  const written = await Promise.all(records);
  expect(written.filter(Boolean)).toHaveLength(250);
  expect(world.asked).toBe(250);
});
