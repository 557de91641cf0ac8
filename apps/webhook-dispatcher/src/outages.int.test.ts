import { rename, writeFile, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeEach, expect, test } from "vitest";
import { openScene, patience, statements } from "./testing/kill-scene.ts";
import { idOf } from "./testing/clicks.ts";
import { openReceiver } from "./testing/receiver.ts";
import { openWorld, type World } from "./testing/world.ts";

describeWith("the dispatcher, while something is away,", openWorld, (opened: () => World) => {
  beforeEach(() => opened().startAfresh());

  test("delivers on without Postgres, and keeps what fails until Postgres is back", async () => {
    await using scene = await openScene(opened());
    const { receiver, proxy, first, take, stored, distinct, append, rows } = scene;
    proxy.refuse();
    receiver.answer((request, response) =>
      receiver.received.length === 15 ? void response.writeHead(503).end() : take(request, response),
    );
    await append(10);
    await expect.poll(distinct, patience).toBe(10);
    await append(10);
    await first.said("Postgres does not take what has to be delivered later: the batch in hand waits");
    proxy.flow();
    await expect.poll(async () => (await rows()).length, patience).toBe(1);
    await scene.world.letAllBeDue("lease IS NULL");
    await expect.poll(distinct, patience).toBe(20);
    expect(stored.length).toBe(20);
    expect(first.lines.filter(({ level }) => level === "fatal")).toEqual([]);
  });

  test("sends nothing twice that is answered while its batch is being parked", async () => {
    await using scene = await openScene(opened());
    const { receiver, proxy, first, take, stored, append, rows } = scene;
    receiver.answer((request, response) => void setTimeout(() => take(request, response), 1_300));
    const parking = proxy.stopAt(statements.park, "unheard");
    await append(1);
    await parking;
    await expect.poll(() => stored.length, patience).toBe(1);
    // Longer than outcomes are gathered before they are noted.
    await delay(300);
    proxy.flow();
    await expect.poll(() => first.metric("dispatch_parked_total"), patience).toBe(1);
    await expect.poll(rows, patience).toEqual([]);
    expect(stored.length).toBe(1);
  });

  test("delivers on without the click store", async () => {
    const world = opened();
    await using scene = await openScene(world, "webhook", { CLICK_STORE_URL: "http://127.0.0.1:9/default" });
    const { first, distinct, append } = scene;
    await append(10);
    await expect.poll(distinct, patience).toBe(10);
    await expect.poll(() => first.metric("dispatch_oldest_uncommitted_seconds"), patience).toBe(0);
    await expect.poll(() => first.metric("attempt_log_buffered"), patience).toBeGreaterThan(0);
  });

  test("sends what is due, though it has never reached the event log", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    const { id } = await world.endpoint(receiver.url);
    const event = {
      id: idOf(1),
      type: "endpoint.test",
      workspaceId: world.workspaceId,
      ts: 1,
      body: "{}",
    } as const;
    const now = Date.now();
    await world.deliveries.park([{ target: id, event, made: 1, replayed: false, dueAt: now }], now);
    await using _ = world.start({ FANOUT_LOG_URL: "kafka://127.0.0.1:9" });
    await expect.poll(() => receiver.received.length, patience).toBe(1);
  });

  test("goes on where it was when the event log is back", async () => {
    const world = opened();
    await using scene = await openScene(world);
    const { first, distinct, stored, append } = scene;
    await append(10);
    await expect.poll(distinct, patience).toBe(10);
    await rename(world.path, `${world.path}.away`);
    await writeFile(world.path, "");
    await expect.poll(async () => (await first.readiness()).body, patience).toContain("event-log");
    await rm(world.path);
    await rename(`${world.path}.away`, world.path);
    await append(10);
    await expect.poll(distinct, patience).toBe(20);
    expect(stored.length).toBe(20);
  });
});
