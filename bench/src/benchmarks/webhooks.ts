import { setTimeout as delay } from "node:timers/promises";
import { openDeliveryStore } from "@sluice/link-store/deliveries/open-deliveries.ts";
import type { NewParked } from "@sluice/link-store/deliveries/delivery-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import type { Bench, Benchmark } from "../benchmark.ts";
import { cpuSeconds } from "../machine.ts";
import { createFannedOut, type Deliveries, openDeliveries, openReceivers, topic } from "../deliveries.ts";

const rate = { name: "webhooks-delivered", unit: "deliveries/s", goal: { atLeast: 5_000 } };
const cost = { name: "webhooks-dispatcher-cpu", unit: "us/delivery" };
const parking = { name: "webhooks-parked", unit: "rows/s", goal: { atLeast: 20_000 } };

/** Deliveries to a receiver on the same cores, with the delivery log on, and rows that are parked. */
export const webhooks: Benchmark = {
  name: "webhooks",
  figures: [rate, cost, parking],
  async run(bench) {
    await using deliveries = await openDeliveries(bench);
    const rates: number[] = [];
    const costs: number[] = [];
    const parked: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      const { perSecond, microseconds } = await deliver(deliveries, Math.round(40_000 * bench.scale), bench);
      rates.push(perSecond);
      costs.push(microseconds);
      parked.push(await parkedPerSecond(deliveries, Math.round(100_000 * bench.scale)));
    }
    bench.record(rate.name, rates);
    bench.record(cost.name, costs);
    bench.record(parking.name, parked);
  },
};

/** From the first delivery to the last of a backlog; and what each cost the dispatcher, its start included. */
async function deliver(deliveries: Deliveries, events: number, bench: Bench) {
  const seen = new Set<unknown>();
  let firstAt = 0;
  let lastAt = 0;
  await using receivers = await openReceivers((_path, body, response) => {
    response.writeHead(200).end();
    firstAt ||= performance.now();
    lastAt = performance.now();
    // The id of the click is within the first bytes.
    seen.add(body.slice(0, 200));
  });
  const bounds = { maxInFlight: 100, maxPerSecond: 10_000 };
  // A workspace gets half of what is in flight, and its endpoints share that.
  const links = deliveries.links.slice(0, 1);
  await deliveries.endpoints(links, () => ({ url: receivers.url, ...bounds }));
  await using log = await deliveries.openTopic();
  const fannedOut = createFannedOut(links);
  for (let made = 0; made < events; made += 1_000) await log.append(topic, fannedOut(1_000));
  await using dispatcher = await deliveries.dispatcher(log.url);
  while (seen.size < events) {
    await delay(50, undefined, { signal: bench.signal });
    if (lastAt > 0 && performance.now() - lastAt > 30_000)
      throw new Error(`dispatcher: stuck at ${seen.size} of ${events}`);
  }
  const seconds = cpuSeconds(dispatcher.pid) ?? Number.NaN;
  return { perSecond: (events * 1_000) / (lastAt - firstAt), microseconds: (seconds * 1e6) / events };
}

/** As the dispatcher parks a batch of which nothing could be delivered. */
async function parkedPerSecond({ url, query }: Deliveries, rows: number): Promise<number> {
  await using store = openDeliveryStore(url, { log: silentLog });
  const [row] = await query("SELECT max(target) AS target FROM delivery_targets");
  const target: NewParked["target"] = `ep_${Number(String(Object.values(row ?? {})[0]).slice(3))}`;
  const now = Date.now();
  const batches = Array.from({ length: rows / 1_000 }, (_each, batch) =>
    Array.from({ length: 1_000 }, (_row, place): NewParked => {
      const event = { type: "link.clicked", workspaceId: 1, ts: now, body: "x".repeat(1_000) } as const;
      const id = `00000000-0000-7000-8000-${(batch * 1_000 + place).toString(16).padStart(12, "0")}`;
      // Due when nobody is there any more.
      return { target, event: { ...event, id }, made: 0, replayed: false, dueAt: now + 1e9 };
    }),
  );
  const began = performance.now();
  for (const batch of batches) await store.park(batch, now);
  const parkedIn = performance.now() - began;
  await query("TRUNCATE deliveries, delivery_events");
  return (rows * 1_000) / parkedIn;
}
