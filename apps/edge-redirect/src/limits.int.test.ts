import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { visit } from "./testing/http.ts";
import { metric, until } from "./testing/ops.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const person = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };

/** How many of so many people are redirected, several at a time. */
async function redirected({ port }: EdgeProcess, path: string, count: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => visit(port, path, { headers: person })),
  );
  return answers.filter(({ status }) => status === 302).length;
}

describeWith("a link with a limit of clicks", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    const { link, postgres } = world();
    for (const slug of ["bots", "three", "kept", "alone"]) await link(slug, { maxClicks: 3 });
    await link("locked", { maxClicks: 1, password: "secret" });
    journal = await openJournal(postgres.url);
    edge = await journal.start();
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  it("takes just as many people, and is over then, for everybody", async () => {
    await journal.read();
    expect(await redirected(edge, "/three", 10)).toBe(3);
    const { clicks } = await journal.read();
    expect(clicks).toHaveLength(3);
    for (const method of ["GET", "HEAD"]) {
      expect(await visit(edge.port, "/three", { method, headers: person })).toMatchObject({ status: 410 });
    }
    expect(await visit(edge.port, "/three")).toMatchObject({ status: 410 });
  });

  describe("is not used up by", () => {
    it.each<[string, string, Record<string, string>]>([
      ["D2: a messenger's preview", "GET", { "user-agent": "facebookexternalhit/1.1" }],
      [
        "D3: a network's preview",
        "GET",
        { "user-agent": "http.rb/5.1.1 (Mastodon/4.2.0; +https://mastodon.social/)" },
      ],
      ["D6, D8: a HEAD", "HEAD", person],
      [
        "D10: a crawler",
        "GET",
        {
          "user-agent":
            "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
        },
      ],
      ["D10: who names no agent", "GET", {}],
      ["a browser that asks ahead of its user", "GET", { ...person, "sec-purpose": "prefetch" }],
    ])("%s, which is redirected all the same", async (_, method, headers) => {
      for (let time = 0; time < 5; time += 1) {
        expect(await visit(edge.port, "/bots", { method, headers })).toMatchObject({ status: 302 });
      }
    });

    it("who does not know its password", async () => {
      const unlock = (password: string) =>
        visit(edge.port, "/locked", {
          method: "POST",
          headers: { ...person, "content-type": "application/x-www-form-urlencoded" },
          body: `password=${password}`,
        });
      expect(await visit(edge.port, "/locked", { headers: person })).toMatchObject({ status: 200 });
      expect(await unlock("guess")).toMatchObject({ status: 401 });
      expect(await unlock("secret")).toMatchObject({ status: 303 });
      expect(await unlock("secret")).toMatchObject({ status: 410 });
    });
  });

  it("goes on from its count when the edge is killed", async () => {
    expect(await redirected(edge, "/kept", 2)).toBe(2);
    await expect.poll(() => journal.has("click-limits.ndjson")).toBe(true);
    // Written once a second, and the last click may have missed it.
    await expect.poll(() => journal.kept("click-limits.ndjson"), { timeout: 5_000 }).toMatch(/"clicks":2/);
    edge.kill("SIGKILL");
    await edge.exited;
    edge = await journal.start();
    expect(await redirected(edge, "/kept", 10)).toBe(1);
  });

  it("takes it once in each edge where they share no counts", async () => {
    await using elsewhere = await openJournal(world().postgres.url);
    await using other = await elsewhere.start();
    expect(await redirected(edge, "/alone", 10)).toBe(3);
    expect(await redirected(other, "/alone", 10)).toBe(3);
  });
});

describeWith(
  "where edges share a Redis, a link with a limit of clicks",
  async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await openWorld());
    const redis = stack.use(await testRedis());
    const opened = stack.move();
    return { ...world, redis, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  },
  (world) => {
    const limit = 20;
    const workers = 2;
    const edges: EdgeProcess[] = [];
    const stack = new AsyncDisposableStack();
    beforeAll(async () => {
      const { link, postgres, redis } = world();
      for (const slug of ["shared", "away"]) await link(slug, { maxClicks: limit });
      for (let edge = 0; edge < 2; edge += 1) {
        const journal = stack.use(await openJournal(postgres.url));
        const env = { REDIS_URL: redis.url, EDGE_WORKERS: String(workers) };
        edges.push(stack.use(await journal.start({ env })));
      }
      for (const edge of edges)
        await until("all answer", async () => (await metric(edge, "edge_workers_ready")) === workers);
    });
    afterAll(() => stack.disposeAsync());

    const atBoth = async (path: string, count: number): Promise<number> => {
      const through = await Promise.all(edges.map((edge) => redirected(edge, path, count)));
      return through.reduce((sum, each) => sum + each, 0);
    };

    it("takes just as many people at all of them together, also when they come at once", async () => {
      expect(await atBoth("/shared", 3 * limit)).toBe(limit);
      expect(await atBoth("/shared", 5)).toBe(0);
    });

    it("takes what is left of it at most once in each process while Redis is away", async () => {
      let taken = await atBoth("/away", 4);
      expect(taken).toBe(8);
      const { server } = world().redis;
      // It is there, and says nothing.
      server?.kill("SIGSTOP");
      taken += await atBoth("/away", 4 * limit);
      expect(taken).toBeGreaterThanOrEqual(limit);
      server?.kill("SIGCONT");
      // What each counted alone is counted for all, once they can be asked again.
      await until("it is over", async () => {
        const through = await atBoth("/away", 5);
        taken += through;
        return through === 0;
      });
      expect(taken).toBeLessThanOrEqual(edges.length * workers * limit);
    });
  },
);
