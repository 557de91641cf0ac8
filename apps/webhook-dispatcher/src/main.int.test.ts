import { setTimeout as delay } from "node:timers/promises";
import { openErasures } from "@sluice/click-store/erasures.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test } from "vitest";
import { fannedOut } from "./testing/clicks.ts";
import { idIn } from "./testing/kill-scene.ts";
import { openReceiver, type Received } from "./testing/receiver.ts";
import { openWorld, type World } from "./testing/world.ts";

const patience = { timeout: 30_000, interval: 20 };
let last = 0;
/** Records of clicks that no test before has used. */
const clicks = (count: number) => Array.from({ length: count }, () => fannedOut((last += 1)));

describeWith("the dispatcher", openWorld, (opened: () => World) => {
  beforeEach(() => opened().startAfresh());

  test("signs what it delivers, so that the official library takes it", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    const { secrets } = await world.endpoint(receiver.url);
    await using dispatcher = world.start();
    await dispatcher.said("operations server listening");
    await world.append(clicks(1));
    await expect.poll(() => receiver.received.length, patience).toBe(1);
    const { body, headers } = first(receiver.received);
    const verified: unknown = new Webhook(secrets[0] ?? "").verify(body, headersOf(headers));
    expect(verified).toMatchObject({ type: "link.clicked", data: { country: "DE" } });
  });

  test("killed while it delivers, it loses none, and repeats only under the same id", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    await world.endpoint(receiver.url, { maxPerSecond: 10_000, maxInFlight: 100 });
    let answered = 0;
    receiver.answer((_request, response) => {
      answered += 1;
      // Some fail, some take longer than a batch waits.
      if (answered % 7 === 0) response.writeHead(503).end();
      else if (answered % 11 === 0) setTimeout(() => response.writeHead(200).end(), 1_500);
      else response.writeHead(200).end();
    });
    const count = 300;
    const all = Array.from({ length: 3 }, () => clicks(count / 3));
    for (const records of all) {
      await world.append(records);
      await using dispatcher = world.start({ LEASE_MS: "35000" });
      const before = receiver.received.length;
      await expect.poll(() => receiver.received.length, patience).toBeGreaterThan(before + 20);
      dispatcher.kill("SIGKILL");
      await dispatcher.ended;
    }
    // What the killed ones had leased is free a little later.
    await world.letAllBeDue();
    await using _ = world.start({ LEASE_MS: "35000" });
    // Others are of the test before: not committed, as it may be.
    const mine = new Set(all.flat().map(({ key }) => key));
    await expect
      .poll(() => mine.difference(new Set(receiver.received.map(idIn))).size, {
        ...patience,
        timeout: 60_000,
      })
      .toBe(0);
  }, 120_000);

  test("told to stop, it lets end what is in flight and leaves the rest to the next one", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    await world.endpoint(receiver.url, { maxInFlight: 2 });
    receiver.answer((_request, response) => void setTimeout(() => response.writeHead(200).end(), 800));
    const dispatcher = world.start();
    await world.append(clicks(20));
    await expect.poll(() => receiver.received.length, patience).toBeGreaterThan(0);
    dispatcher.kill("SIGTERM");
    expect(await dispatcher.ended).toBe(0);
    const left = await world.sql("SELECT lease FROM deliveries");
    // None twice and none lost: what was in flight has ended.
    expect(receiver.received.length + left.length).toBe(20);
    expect(left.filter((row) => Reflect.get(row, "lease") !== null)).toEqual([]);
  });

  test("an endpoint that hangs holds up nobody else", async () => {
    const world = opened();
    await using hanging = await openReceiver();
    await using healthy = await openReceiver();
    hanging.answer(() => {});
    await world.endpoint(hanging.url);
    await world.endpoint(healthy.url, { maxPerSecond: 10_000 });
    await using dispatcher = world.start();
    await dispatcher.said("operations server listening");
    // The first ones show that it hangs.
    await world.append(clicks(5));
    await expect.poll(() => hanging.received.length, patience).toBeGreaterThan(0);
    await delay(1_500);
    const began = Date.now();
    await world.append(clicks(100));
    await expect.poll(() => healthy.received.length, patience).toBe(105);
    const lastAt = healthy.received.at(-1)?.at ?? Infinity;
    // Two windows, where a queue shared with the hanging one would take its time-out of ten seconds.
    expect(lastAt - began).toBeLessThan(2_000);
  });

  test("a 410 disables the endpoint, and the workspace's others and the operator are told of it once", async () => {
    const world = opened();
    await using gone = await openReceiver();
    await using other = await openReceiver();
    await using operator = await openReceiver();
    gone.answer((_request, response) => response.writeHead(410).end());
    const disabled = await world.endpoint(gone.url);
    await world.endpoint(other.url, { eventTypes: ["endpoint.disabled"] });
    await using two = new AsyncDisposableStack();
    const operators = { NOTICE_URL: operator.url, NOTICE_SECRET: `whsec_${"A".repeat(32)}` };
    two.use(world.start(operators));
    two.use(world.start(operators));
    await world.append(clicks(3));
    await expect.poll(() => other.received.length, patience).toBe(1);
    await expect.poll(() => operator.received.length, patience).toBe(1);
    expect(JSON.parse(other.received[0]?.body ?? "")).toMatchObject({
      type: "endpoint.disabled",
      data: { endpoint_id: disabled.id },
    });
    expect(await world.targets.show(disabled.id, Date.now())).toHaveProperty("disabled.reason");
    await delay(500);
    expect([other.received.length, operator.received.length]).toEqual([1, 1]);
  });

  test("a test that somebody asks for is carried out, and makes the endpoint one that is sent to", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    const { id } = await world.targets.create(
      world.workspaceId,
      { kind: "webhook", url: receiver.url },
      Date.now(),
    );
    await world.targets.allowPrivate(id, true);
    await using _ = world.start();
    const asked = await world.targets.requestTest(id, { enable: false, now: Date.now() });
    await expect
      .poll(() => world.targets.testResult(asked), patience)
      .toMatchObject({ ok: true, status: 200 });
    // Within two seconds of it.
    async function delivered() {
      await world.append(clicks(1));
      return receiver.received.length;
    }
    await expect.poll(delivered, { timeout: 30_000, interval: 500 }).toBeGreaterThan(1);
  });

  test("loopback is not sent to unless the operator allows it for that endpoint", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    const { id } = await world.targets.create(
      world.workspaceId,
      { kind: "webhook", url: receiver.url },
      Date.now(),
    );
    await using _ = world.start();
    const asked = await world.targets.requestTest(id, { enable: false, now: Date.now() });
    await expect
      .poll(() => world.targets.testResult(asked), patience)
      .toMatchObject({ ok: false, code: "address-not-allowed" });
    expect(receiver.received).toEqual([]);
  });

  test("facts row 7: a name that leads nowhere is its owner's failure, and stops nothing", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    const { id } = await world.endpoint("http://nowhere.invalid/");
    await world.endpoint(receiver.url);
    await using dispatcher = world.start();
    await world.append(clicks(1));
    await expect.poll(() => receiver.received.length, patience).toBe(1);
    const waiting = () =>
      world.sql(`SELECT FROM deliveries WHERE target = '${id}' AND made > 0 AND code LIKE 'dns-%'`);
    await expect.poll(waiting, patience).toHaveLength(1);
    expect((await dispatcher.readiness()).status).toBe(200);
  });

  test("nothing of what was erased is sent, be it parked or still in the topic", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    const { id } = await world.endpoint(receiver.url);
    const erasedLink = 999;
    await using erasures = await openErasures(world.postgresUrl);
    const erasure = { workspaceId: world.workspaceId, linkId: erasedLink, upTo: Date.now() };
    await erasures.add(erasure, AbortSignal.timeout(10_000));
    const erased = () => fannedOut((last += 1), { link_id: erasedLink });
    const [waiting, inTopic, kept] = [erased(), erased(), fannedOut((last += 1))];
    const body = Buffer.from(waiting.value).toString();
    const event = {
      id: waiting.key,
      type: "link.clicked",
      workspaceId: 1,
      ts: 1,
      linkId: erasedLink,
      body,
    } as const;
    const row = { target: id, event, made: 1, replayed: false, dueAt: Date.now() };
    await world.deliveries.park([row], Date.now());
    await using dispatcher = world.start();
    await world.append([inTopic, kept]);
    await expect.poll(() => receiver.received.map(idIn), patience).toEqual([kept.key]);
    await expect.poll(() => world.sql("SELECT FROM deliveries"), patience).toEqual([]);
    expect(await dispatcher.metric("lane_skipped_total")).toBe(1);
    expect(receiver.received).toHaveLength(1);
  });

  test("attempts are in the delivery log", async () => {
    const world = opened();
    await using receiver = await openReceiver();
    const { id } = await world.endpoint(receiver.url);
    await using _ = world.start();
    await world.append(clicks(2));
    const logged = () => world.sql(`SELECT outcome FROM webhook_attempts WHERE target = '${id}'`);
    await expect.poll(logged, patience).toEqual([{ outcome: "delivered" }, { outcome: "delivered" }]);
  });
});

function first([received]: readonly Received[]): Received {
  if (received === undefined) throw new Error("nothing was received");
  return received;
}

function headersOf(headers: Received["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
