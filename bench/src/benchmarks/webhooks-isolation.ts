import { setTimeout as delay } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import type { Bench, Benchmark } from "../benchmark.ts";
import {
  createFannedOut,
  type Deliveries,
  linkCount,
  openDeliveries,
  openReceivers,
  topic,
} from "../deliveries.ts";
import { peakMemory } from "../machine.ts";

const first = { name: "first-attempt-p99", unit: "ms", goal: { atMost: 1_500 } };
const troubled = { name: "first-attempt-p99-some-hang", unit: "ms" };
const ratio = { name: "p99-some-hang/none-hangs", unit: "ratio", goal: { atMost: 1.5 } };
const ratioOfOne = { name: "p99-some-hang/none-hangs-one-workspace", unit: "ratio", goal: { atMost: 1.5 } };
const memory = { name: "dispatcher-memory-1000-hung-1M-parked", unit: "MB", goal: { atMost: 256 } };

const perSecond = 500;

/** Of a thousand endpoints a tenth hangs, a twentieth takes 5 s and a twentieth fails: what the others notice of it. */
export const webhooksIsolation: Benchmark = {
  name: "webhooks-isolation",
  figures: [first, troubled, ratio, ratioOfOne, memory],
  async run(bench) {
    const many = await compare(100, Math.min(3, bench.rounds), bench);
    bench.record(first.name, many.calm);
    bench.record(troubled.name, many.hung);
    bench.record(ratio.name, many.ratios);
    // Its owner's other endpoints are no worse off than those of others.
    bench.record(ratioOfOne.name, (await compare(1, 1, bench)).ratios);
    await using deliveries = await openDeliveries(bench);
    const bytes = await memoryWhileAllHang(deliveries, Math.round(1_000_000 * bench.scale), bench);
    if (bytes !== undefined) bench.recordSingle(memory.name, bytes / 1e6);
  },
};

/** The endpoints spread over so many workspaces, with and without those that are in trouble; in turns. */
async function compare(workspaces: number, rounds: number, bench: Bench) {
  await using deliveries = await openDeliveries(bench, workspaces);
  const seconds = Math.max(5, 30 * bench.scale);
  const calm: number[] = [];
  const hung: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    calm.push(await healthyP99(deliveries, () => 200, seconds, bench));
    hung.push(await healthyP99(deliveries, answerOf, seconds, bench));
  }
  return { calm, hung, ratios: hung.map((value, round) => value / (calm[round] ?? Number.NaN)) };
}

/** What an endpoint does, by its number: answers with this status, or hangs, or takes five seconds. */
function answerOf(number: number): number | "hangs" | "slow" {
  if (number % 10 === 0) return "hangs";
  if (number % 20 === 1) return "slow";
  return number % 20 === 2 ? 500 : 200;
}

/** From the click to its first attempt at an endpoint that is well in both cases, in ms. */
async function healthyP99(
  deliveries: Deliveries,
  answers: typeof answerOf,
  seconds: number,
  bench: Bench,
): Promise<number> {
  const latencies: number[] = [];
  await using receivers = await openReceivers((path, body, response) => {
    const number = Number(path.slice(1));
    if (answerOf(number) === 200) latencies.push(Date.now() - timeOf(body));
    answer(response, answers(number));
  });
  await deliveries.endpoints(deliveries.links, (number) => ({ url: `${receivers.url}/${number}` }));
  await using log = await deliveries.openTopic();
  await using _ = await deliveries.dispatcher(log.url);
  const fannedOut = createFannedOut(deliveries.links);
  // What hangs is found out in the first third, which is not counted.
  for (let tick = 0; tick < ((seconds * 4) / 3) * 20; tick += 1) {
    if (tick === Math.round((seconds / 3) * 20)) latencies.length = 0;
    await log.append(topic, fannedOut(perSecond / 20));
    await delay(50, undefined, { signal: bench.signal });
  }
  await delay(2_000, undefined, { signal: bench.signal });
  latencies.sort((one, other) => one - other);
  return latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
}

function answer(response: ServerResponse, how: ReturnType<typeof answerOf>): void {
  if (how === "hangs") return;
  if (how === "slow") setTimeout(() => response.writeHead(200).end(), 5_000);
  else response.writeHead(how).end();
}

/** When the click happened, in ms; the payload says it in its second field. */
function timeOf(body: string): number {
  return Date.parse(/"timestamp":"([^"]+)"/.exec(body)?.[1] ?? "");
}

/** The most that a dispatcher has resident while all endpoints hang, a million rows wait and clicks go on coming. */
async function memoryWhileAllHang(
  deliveries: Deliveries,
  rows: number,
  bench: Bench,
): Promise<number | undefined> {
  await using receivers = await openReceivers(() => {});
  await deliveries.endpoints(deliveries.links, (number) => ({ url: `${receivers.url}/${number}` }));
  await park(deliveries, rows);
  await using log = await deliveries.openTopic();
  await using dispatcher = await deliveries.dispatcher(log.url);
  const fannedOut = createFannedOut(deliveries.links);
  for (let tick = 0; tick < 60 * bench.scale * 20; tick += 1) {
    await log.append(topic, fannedOut(perSecond / 20));
    await delay(50, undefined, { signal: bench.signal });
  }
  return peakMemory(dispatcher.pid);
}

/** So many rows that are due, spread over all endpoints. */
async function park({ query, links }: Deliveries, rows: number): Promise<void> {
  const [record] = createFannedOut(links)(1);
  const body = Buffer.from(record?.value ?? "")
    .toString()
    .replaceAll("'", "''");
  await query(`
    INSERT INTO delivery_events (id, type, workspace_id, ts, body, parked_at)
    SELECT gen_random_uuid(), 'link.clicked', 1, 0, '${body}', extract(epoch FROM now()) * 1000
    FROM generate_series(1, ${rows})`);
  await query(`
    INSERT INTO deliveries (event_id, target, due_at, made, replayed)
    SELECT id, (SELECT array_agg(target) FROM delivery_targets WHERE sendable AND target <> 'ep_0')[1 + (row_number() OVER ()) % ${linkCount}], 0, 0, false
    FROM delivery_events`);
  await query(`
    UPDATE delivery_targets AS kept SET parked = counted.count
    FROM (SELECT target, count(*) FROM deliveries GROUP BY target) AS counted WHERE counted.target = kept.target`);
}
