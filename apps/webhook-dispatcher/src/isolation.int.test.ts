import type { NewParked } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeEach, expect, test } from "vitest";
import { fannedOut } from "./testing/clicks.ts";
import { idIn } from "./testing/kill-scene.ts";
import { openReceiver } from "./testing/receiver.ts";
import { openWorld, type World } from "./testing/world.ts";

const patience = { timeout: 30_000, interval: 20 };
/** More than the retry worker asks for at once. */
const greedyTargets = 1_200;
const slots = 40;

/** Targets of a workspace of their own that all point there. */
async function addPixels(world: World, url: string): Promise<TargetId[]> {
  await world.sql(`
    INSERT INTO workspaces (name) VALUES ('greedy');
    INSERT INTO pixels (workspace_id, url, verified_at, allow_private)
    SELECT (SELECT max(id) FROM workspaces), '${url}/{event_id}', now(), true FROM generate_series(1, ${greedyTargets})`);
  const rows = await world.sql("SELECT id FROM pixels");
  return rows.map((row): TargetId => `px_${Number(Object.values(row)[0])}`);
}

function waiting(target: TargetId, number: number, dueAt: number): NewParked {
  const { key, value } = fannedOut(number);
  const event = {
    id: key,
    type: "link.clicked",
    workspaceId: 1,
    ts: dueAt,
    body: Buffer.from(value).toString(),
  } as const;
  return { target, event, made: 0, replayed: false, dueAt };
}

describeWith("one customer's targets that all hang", openWorld, (opened: () => World) => {
  beforeEach(() => opened().startAfresh());

  test("keep no delivery of another waiting, be it a click or one that is due: those all come while theirs hold three quarters of the slots", async () => {
    const world = opened();
    await using hanging = await openReceiver();
    let ended = 0;
    hanging.answer((_request, response) => response.on("close", () => (ended += 1)));
    await using receiver = await openReceiver();
    const { id } = await world.endpoint(receiver.url);
    const greedy = await addPixels(world, hanging.url);
    const now = Date.now();
    const theirs = [1, 2, 3].flatMap((number) =>
      greedy.map((target) => waiting(target, number, now - 9_000)),
    );
    await world.deliveries.park([...theirs, ...[4, 5, 6].map((number) => waiting(id, number, now))], now);
    await using dispatcher = world.start({ MAX_IN_FLIGHT: String(slots) });
    await dispatcher.said("operations server listening");
    await expect.poll(() => hanging.received.length, patience).toBeGreaterThan(slots / 4);
    const clicks = Array.from({ length: 50 }, (_, index) => fannedOut(100 + index));
    await world.append(clicks);
    const wanted = [4, 5, 6].map((number) => fannedOut(number).key).concat(clicks.map(({ key }) => key));
    await expect
      .poll(() => new Set(wanted).difference(new Set(receiver.received.map(idIn))).size, patience)
      .toBe(0);
    // On a slow machine some have ended by their time limit.
    expect(hanging.received.length - ended).toBeLessThanOrEqual((slots * 3) / 4);
  });
});
