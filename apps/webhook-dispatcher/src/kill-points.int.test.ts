import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeEach, expect, test } from "vitest";
import {
  finishWithAnother,
  kill,
  openScene,
  patience,
  type Scene,
  statements,
} from "./testing/kill-scene.ts";
import { type Answer, openReceiver } from "./testing/receiver.ts";
import { openWorld, type World } from "./testing/world.ts";

const count = 40;
const { park, settle, ledger, disable } = statements;
const fail: Answer = (_request, response) => void response.writeHead(503).end();
const cut: Answer = (_request, response) => void response.destroy();

/** The moments are made certain by a proxy before Postgres that holds up what would let the dispatcher go on. */
describeWith("a dispatcher that is killed", openWorld, (opened: () => World) => {
  beforeEach(() => opened().startAfresh());

  test("after it has read, and before anybody has heard of it, loses and repeats nothing", async () => {
    await using scene = await openScene(opened());
    const { receiver, first, append } = scene;
    const dialled = receiver.dialled(() => first.kill("SIGKILL"));
    await append(count);
    await dialled;
    await kill(scene);
    await finishWithAnother(scene);
    expect(repeats(scene)).toBe(0);
  });

  test("after its attempts, and before it has parked what is left, repeats at most that batch", async () => {
    await using scene = await openScene(opened());
    const { receiver, proxy, take, store, append } = scene;
    // As many as a breaker lets fail, and one whose answer is cut off after it was stored.
    receiver.answer((request, response) => {
      if (receiver.received.length > 3) return take(request, response);
      if (receiver.received.length === 3) store(request);
      (receiver.received.length === 3 ? cut : fail)(request, response);
    });
    const parking = proxy.stopAt(park, "unheard");
    await append(count);
    await parking;
    await kill(scene);
    await finishWithAnother(scene);
    expect(repeats(scene)).toBeLessThanOrEqual(count);
  });

  test("after it has parked what is left, and before the commit, repeats of that batch what was answered, and nothing of what is parked", async () => {
    await using scene = await openScene(opened());
    const { world, first, receiver, proxy, take, append, rows, stored } = scene;
    receiver.answer((request, response) => (receiver.received.length <= 3 ? fail : take)(request, response));
    const parking = proxy.stopAt(park, "unanswered");
    await append(count);
    await parking;
    await expect.poll(async () => (await rows()).length, patience).toBeGreaterThan(0);
    first.kill("SIGKILL");
    await first.ended;
    const answered = stored.length;
    // So that none of them is delivered before the batch is read again.
    await world.sql(`UPDATE deliveries SET due_at = ${Date.now() + 3_600_000}`);
    const waiting = (await rows()).length;
    receiver.answer(take);
    await using next = world.start();
    await expect.poll(() => next.metric("dispatch_repeats_total"), patience).toBe(waiting);
    // It commits before it leaves.
    next.kill("SIGTERM");
    await next.ended;
    await world.letAllBeDue();
    await finishWithAnother(scene);
    expect(repeats(scene)).toBeLessThanOrEqual(answered);
  });

  test("while an attempt is under way whose row is parked, loses and repeats nothing", async () => {
    await using scene = await openScene(opened());
    const { receiver, first, append, asked, rows } = scene;
    receiver.answer(() => {});
    await append(1);
    // It is committed.
    await expect.poll(() => first.metric("dispatch_end_to_end_lag_seconds"), patience).toBeGreaterThan(0);
    const [row = {}] = await rows();
    expect(row).toHaveProperty("lease", expect.any(String));
    // Nobody else takes it while it may be answered, which is 16 seconds.
    expect(Number(Reflect.get(row, "due_at")) - Date.now()).toBeGreaterThan(20_000);
    await kill(scene);
    await finishWithAnother(scene);
    expect(repeats(scene)).toBe(0);
    expect(asked().length).toBe(3);
  });

  test("after a receiver has answered late, and before that is noted, repeats what was answered", async () => {
    await using scene = await openScene(opened());
    const { receiver, proxy, take, asked, append } = scene;
    receiver.answer((request, response) => void setTimeout(() => take(request, response), 1_500));
    const settling = proxy.stopAt(settle, "unheard");
    await append(count);
    await settling;
    await kill(scene);
    const before = asked().length;
    expect(before).toBeGreaterThan(0);
    await finishWithAnother(scene);
    expect(repeats(scene)).toBeLessThanOrEqual(before);
  });

  test("while it drains, loses nothing and repeats what was answered and not noted", async () => {
    await using scene = await openScene(opened());
    const { receiver, first, take, asked, append } = scene;
    receiver.answer((request, response) =>
      receiver.received.length % 2 === 0 ? take(request, response) : undefined,
    );
    await append(count);
    await expect.poll(() => receiver.received.length, patience).toBeGreaterThan(0);
    first.kill("SIGTERM");
    await first.said("stopping");
    await kill(scene);
    const before = asked().length;
    await finishWithAnother(scene);
    expect(repeats(scene)).toBeLessThanOrEqual(before);
  });

  test("between disabling an endpoint and the notice of it, has the next one give notice", async () => {
    await using scene = await openScene(opened());
    const { world, first, receiver, proxy, target, append } = scene;
    await using other = await openReceiver();
    await world.endpoint(other.url, { eventTypes: ["endpoint.disabled"] });
    await expect.poll(() => first.metric("dispatch_targets"), patience).toBe(2);
    receiver.answer((_request, response) => response.writeHead(410).end());
    const disabling = proxy.stopAt(disable, "unanswered");
    await append(1);
    await disabling;
    await expect
      .poll(() => world.targets.show(target.id, Date.now()), patience)
      .toHaveProperty("disabled.reason", expect.any(String));
    await kill(scene);
    await using _ = world.start();
    await expect
      .poll(() => other.received.map(({ body }) => body), patience)
      .toEqual([expect.stringContaining(`"${target.id}"`)]);
  });
});

describeWith("a pixel", openWorld, (opened: () => World) => {
  beforeEach(() => opened().startAfresh());

  async function killAt(reached: (scene: Scene) => Promise<unknown>, answer?: Answer): Promise<Scene> {
    await using scene = await openScene(opened(), "pixel");
    if (answer !== undefined) scene.receiver.answer(answer);
    const moment = reached(scene);
    await scene.append(count);
    await moment;
    await kill(scene);
    await finishWithAnother(scene);
    const asked = scene.asked();
    expect(asked.length).toBe(new Set(asked).size);
    const unknown = scene.appended() - scene.distinct();
    process.stdout.write(
      `of ${scene.appended()} clicks ${asked.length} were sent, once each; ${unknown} are unknown\n`,
    );
    return scene;
  }

  test("gets nothing twice, and all, when the dispatcher is killed before it writes the ledger", async () => {
    const { asked, appended } = await killAt(({ proxy }) => proxy.stopAt(ledger, "unheard"));
    expect(asked().length).toBe(appended());
  });

  test("gets nothing twice when the dispatcher is killed between the ledger and the request", async () => {
    const { asked, appended } = await killAt(({ proxy }) => proxy.stopAt(ledger, "unanswered"));
    // What was taken counts as sent, since nobody can know.
    expect(asked().length).toBeGreaterThan(0);
    expect(asked().length).toBeLessThan(appended());
  });

  test("gets nothing twice when the dispatcher is killed before it answers", async () => {
    const { distinct, appended } = await killAt(
      ({ asked }) => expect.poll(() => asked().length, patience).toBeGreaterThan(0),
      () => {},
    );
    expect(distinct()).toBeLessThan(appended());
  });

  test("gets nothing twice when it cuts the connection after it has stored", async () => {
    await using scene = await openScene(opened(), "pixel");
    const { receiver, first, append, asked, rows } = scene;
    receiver.answer(cut);
    await append(3);
    await expect.poll(() => first.metric("lane_attempts_total"), patience).toBeGreaterThanOrEqual(3);
    await expect.poll(rows, patience).toEqual([]);
    expect(asked().length).toBe(3);
  });
});

/** How often a click was stored again. All were stored: that is what everybody here wants to know first. */
function repeats({ stored, distinct, appended }: Scene): number {
  expect(distinct()).toBe(appended());
  process.stdout.write(`${stored.length - distinct()} repeats of ${appended()} deliveries\n`);
  return stored.length - distinct();
}
