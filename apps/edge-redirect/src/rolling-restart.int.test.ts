import { setTimeout as delay } from "node:timers/promises";

import { choosePort } from "@sluice/local-services/port.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testNginx } from "@sluice/testkit/nginx.ts";
import { beforeAll, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { type Load, startLoad } from "./testing/load.ts";
import { readyz } from "./testing/ops.ts";
import { numbersByRun, openJournal, openWorld, type World } from "./testing/world.ts";

const rounds = 2;
const noFaults = { unanswered: 0, notJournaled: [], twice: 0, holes: [] };

async function twoPorts(): Promise<number[]> {
  return [await choosePort("edge", "127.0.0.1", undefined), await choosePort("edge", "127.0.0.1", undefined)];
}

/** Two ports for edges, and an nginx in front of them as docs/edge.md has it. */
async function openFront() {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openWorld());
  const ports = await twoPorts();
  const nginx = stack.use(
    await testNginx({
      upstream: `upstream edges {
        ${ports.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join(" ")}
        keepalive 64;
        keepalive_timeout 60s;
      }`,
    }),
  );
  const opened = stack.move();
  return { world, ports, nginx, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function stop(edge: EdgeProcess): Promise<void> {
  edge.kill("SIGTERM");
  expect(await edge.exited).toEqual({ code: 0, signal: null });
}
/** Two edges on ports of their own that take turns to be restarted, and one journal. */
async function openEdges(world: World, ports: readonly number[]) {
  await using stack = new AsyncDisposableStack();
  const journal = stack.use(await openJournal(world.postgres.url));
  const edges = new Map<number, EdgeProcess>();
  stack.defer(async () => {
    for (const edge of edges.values()) await edge[Symbol.asyncDispose]();
  });
  async function start(port: number): Promise<void> {
    edges.set(port, await journal.start({ env: { PORT: String(port), DRAIN_NOTICE_MS: "500" } }));
  }
  for (const port of ports) await start(port);
  const opened = stack.move();

  return {
    edges,
    /** Restarts them, one after the other, several times, while visitors come. */
    async restartAll(load: Load): Promise<void> {
      for (let round = 0; round < rounds; round += 1) {
        for (const [port, edge] of edges) {
          await load.reached(load.answered.length + 200);
          await stop(edge);
          await start(port);
        }
      }
      await load.reached(load.answered.length + 200);
      load.stop();
      await load.ended;
      await Promise.all([...edges.values()].map(stop));
    },
    /** Everything that may not be, once all have left. */
    async faults(load: Load): Promise<object> {
      const content = await journal.read();
      const marks = content.clicks.map(({ utm }) => utm.source);
      const journaled = new Set(marks);
      return {
        unanswered: load.asked() - load.answered.length,
        notJournaled: load.answered.filter((mark) => !journaled.has(mark)),
        twice: marks.length - journaled.size,
        holes: [...numbersByRun(content).values()].flatMap(({ missing }) => missing),
      };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith("two edges behind nginx", openFront, (front) => {
  beforeAll(async () => {
    await front().world.link("demo");
  });

  it("drain: restarted one after the other under load fail no request and lose no click", async () => {
    const { world, ports, nginx } = front();
    await using pair = await openEdges(world, ports);
    const load = startLoad(nginx.port, "/demo", { visitors: 32 });
    await pair.restartAll(load);
    expect(await pair.faults(load)).toEqual(noFaults);
  });
});

describeWith(
  "two edges behind a balancer that asks who is ready, and tries nothing twice",
  openWorld,
  (world) => {
    beforeAll(async () => {
      await world().link("demo");
    });

    it("drain: restarted one after the other under load fail no request and lose no click", async () => {
      await using pair = await openEdges(world(), await twoPorts());
      let ready: readonly number[] = [...pair.edges.keys()];
      const stopped = new AbortController();
      async function keepAsking(): Promise<void> {
        while (!stopped.signal.aborted) {
          const states = await Promise.all(
            [...pair.edges].map(async ([port, edge]) => {
              const state = await readyz(edge).catch(() => ({ ready: false }));
              return state.ready ? [port] : [];
            }),
          );
          ready = states.flat();
          await delay(20);
        }
      }
      const asking = keepAsking();
      let turn = 0;
      const next = () => ready[(turn += 1) % ready.length] ?? 0;
      const load = startLoad(next, "/demo", { visitors: 32 });
      await pair.restartAll(load);
      stopped.abort();
      await asking;
      expect(await pair.faults(load)).toEqual(noFaults);
    });
  },
);
