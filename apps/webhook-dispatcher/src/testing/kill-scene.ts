import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect } from "vitest";
import { fannedOut, idOf } from "./clicks.ts";
import { openReceiver, type Answer, type Received } from "./receiver.ts";
import type { World } from "./world.ts";

// For tests: a dispatcher that is killed at a certain moment, and the next one, which finds what it has left.

/** What a dispatcher says to Postgres, by which its steps are told apart. */
export const statements = {
  park: "INSERT INTO deliveries (",
  settle: "UPDATE deliveries AS row SET lease = NULL, made",
  ledger: "INSERT INTO delivery_ledger",
  disable: "UPDATE webhook_endpoints SET disabled_at",
} as const;

export const patience = { timeout: 60_000, interval: 50 };
let last = 0;

/** A receiver that keeps what it takes, a proxy before Postgres, and clicks that nobody has used before. */
export async function openScene(
  world: World,
  kind: "webhook" | "pixel" = "webhook",
  environment: Readonly<Record<string, string>> = {},
) {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(await openReceiver());
  const proxy = stack.use(await openTcpProxy(world.postgresUrl));
  const target = await (kind === "pixel"
    ? world.pixel(receiver.url)
    : world.endpoint(receiver.url, { maxPerSecond: 10_000, maxInFlight: 50 }));
  const first = stack.use(world.start({ DATABASE_URL: proxy.url, ...environment }));
  const names = new Map<string, unknown>();
  /** Each of its clicks that was stored, once for each time. */
  const stored: string[] = [];
  const take: Answer = (request, response) => {
    store(request);
    response.writeHead(200).end();
  };
  const store = (request: Received) => {
    const id = idIn(request);
    if (!names.has(id)) return;
    stored.push(id);
    const name = request.headers["webhook-id"];
    expect(names.get(id) ?? name).toBe(name);
    names.set(id, name);
  };
  receiver.answer(take);
  await expect.poll(() => first.metric("dispatch_targets"), patience).toBe(1);
  const opened = stack.move();
  return {
    world,
    receiver,
    proxy,
    target,
    first,
    store,
    take,
    stored,
    distinct: () => new Set(stored).size,
    append: async (count: number) => {
      const numbers = Array.from({ length: count }, () => (last += 1));
      for (const number of numbers) names.set(idOf(number), undefined);
      await world.append(numbers.map((number) => fannedOut(number)));
    },
    appended: () => names.size,
    /** Each of its clicks that was sent, whatever became of it. Others are from before: not committed, but in nobody's way. */
    asked: () => receiver.received.map(idIn).filter((id) => names.has(id)),
    rows: () => world.sql("SELECT lease, due_at::float8 AS due_at FROM deliveries WHERE dead_at IS NULL"),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** Of the click that it is about. */
export function idIn({ path, body }: Received): string {
  return /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/.exec(`${path} ${body}`)?.[0] ?? "";
}

/** `kill -9`, and time passes until all leases and pauses have ended. */
export async function kill({ first, world }: Scene): Promise<void> {
  first.kill("SIGKILL");
  await first.ended;
  await world.letAllBeDue();
}

/** Another dispatcher, which lives until it has delivered one click more, and so has read all before it, and nothing waits. */
export async function finishWithAnother(scene: Scene): Promise<void> {
  const { world, receiver, take, rows } = scene;
  receiver.answer(take);
  await using next = world.start();
  await next.said("operations server listening");
  await scene.append(1);
  const mark = idOf(last);
  await expect.poll(() => receiver.received.map(idIn).includes(mark), patience).toBe(true);
  await expect
    .poll(async () => {
      // A failure from before would be tried again after five seconds.
      await world.letAllBeDue("lease IS NULL");
      return await rows();
    }, patience)
    .toEqual([]);
}
