import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { testNginx } from "@sluice/testkit/nginx.ts";
import { seeded } from "@sluice/testkit/seed.ts";

import { answer } from "./clicks.ts";
import { createSystem } from "./system.ts";

/** How many visitors got what: a status, or the code of what went wrong. */
export type Outcomes = ReadonlyMap<string, number>;

/** How long nginx keeps an idle connection, and the edge: 60 s and 135 s, seventy-five times as fast. */
const proxyIdleMs = 800;
const edgeIdleMs = 1_800;
/** So many ask at once, so that as many connections have been idle for the same time. */
const atOnce = 250;
/** How far a pause may be from either limit. */
const aroundMs = 150;

/** An edge, and an nginx in front of it that tries nothing twice. */
export async function openRace() {
  await using stack = new AsyncDisposableStack();
  const system = stack.use(await createSystem({ env: { EDGE_IDLE_MS: String(edgeIdleMs) } }));
  const nginx = stack.use(
    await testNginx({
      upstream: `upstream edges {
        server 127.0.0.1:${system.ports.edge} max_fails=0;
        keepalive ${2 * atOnce};
        keepalive_requests 1000000;
        keepalive_timeout ${proxyIdleMs}ms;
      }`,
      location: "proxy_next_upstream off;",
    }),
  );
  const supervisor = system.start();
  stack.defer(async () => {
    supervisor.child.kill("SIGTERM");
    await supervisor.ended;
  });
  await supervisor.up;
  const opened = stack.move();
  return { port: nginx.port, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/**
 * Asks at least so many times, after pauses about as long as nginx or the edge keeps an idle connection. Where the
 * edge gave up first, nginx would now and then ask on a connection that is being closed, and answer 502.
 */
export async function raceKeepAlive(
  port: number,
  { requests, seed }: { requests: number; seed: number },
): Promise<Outcomes> {
  const random = seeded(seed);
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const outcomes = new Map<string, number>();
  for (let asked = 0; asked < requests; asked += atOnce) {
    const got = await Promise.all(Array.from({ length: atOnce }, () => answer(agent, port, "/demo")));
    for (const outcome of got) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    // Seldom as long as the edge's, which nginx does not wait for.
    const limit = random() < 0.9 ? proxyIdleMs : edgeIdleMs;
    await delay(limit + aroundMs * (2 * random() - 1));
  }
  agent.destroy();
  return outcomes;
}
