import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describe, expect, test } from "vitest";
import { createLinkCache, type Resolution } from "./link-cache.ts";
import type { Link } from "./link-store.ts";

const ttlMs = 60_000;
const negativeTtlMs = 5_000;
const staleMs = 86_400_000;
const domain = "a.example";
const fixed = { ttlMs, negativeTtlMs, staleMs, log: silentLog };
const unavailable = { kind: "unavailable" };

function link(slug: string, destination = `https://example.com/${slug}`): Link {
  return { id: 1, workspaceId: 1, domain, slug, destination, status: 302, disabled: false };
}

/** A cache, a Postgres that can be filled and taken away, and a clock that only the test moves. */
function setUp({ maxBytes = 1_000_000 } = {}) {
  const rows = new Map<string, Link>();
  const asked: string[] = [];
  const server = { away: false, now: 1_000, answer: Promise.resolve() };
  const cache = createLinkCache({
    resolve: async (_domain, slug) => {
      asked.push(slug);
      await server.answer;
      if (server.away) throw new Error("away");
      return rows.get(slug);
    },
    ...fixed,
    maxBytes,
    metrics: createMetrics(),
    now: () => server.now,
    random: () => 0.5,
  });
  const add = (...links: Link[]): void => links.forEach((one) => rows.set(one.slug, one));
  /** Not awaited: what a visitor gets in the same turn. */
  const at = (slug: string) => cache.get(domain, slug);
  return { cache, rows, asked, server, add, at };
}

function found(one: Link) {
  return { kind: "found", link: one };
}

describe("a link in memory", () => {
  test("is given at once, and Postgres is asked once", async () => {
    const { add, at, asked } = setUp();
    add(link("x"));
    await at("x");
    expect(at("x")).toEqual(found(link("x")));
    expect(at("x")).not.toBeInstanceOf(Promise);
    expect(asked).toEqual(["x"]);
  });

  test("is one for each domain", async () => {
    const { add, cache, asked } = setUp();
    add(link("x"));
    await cache.get("a.example", "x");
    await cache.get("b.example", "x");
    expect(asked).toEqual(["x", "x"]);
  });

  test("is asked for once by a hundred visitors at the same time", async () => {
    const { add, at, asked } = setUp();
    add(link("x"));
    const given = await all(Array.from({ length: 100 }, () => at("x")));
    expect(given).toEqual(Array.from({ length: 100 }, () => found(link("x"))));
    expect(asked).toEqual(["x"]);
  });

  test("just past its time is given at once and renewed behind the visitor's back", async () => {
    const { add, at, server } = setUp();
    add(link("x"));
    await at("x");
    add(link("x", "https://example.com/new"));
    server.now += ttlMs;
    expect(at("x")).toEqual(found(link("x")));
    await settled();
    expect(at("x")).toEqual(found(link("x", "https://example.com/new")));
  });

  test("long past its time is read again before it is given", async () => {
    const { add, at, server } = setUp();
    add(link("x"));
    await at("x");
    add({ ...link("x"), disabled: true });
    server.now += 2 * ttlMs;
    expect(await at("x")).toEqual(found({ ...link("x"), disabled: true }));
  });

  test("that is gone from Postgres is unknown from then on", async () => {
    const { add, at, rows, server } = setUp();
    add(link("x"));
    await at("x");
    rows.clear();
    server.now += 2 * ttlMs;
    expect(await at("x")).toEqual({ kind: "unknown" });
    expect(at("x")).toEqual({ kind: "unknown" });
  });

  test("runs out at another moment than those read with it", async () => {
    let draw = 0;
    const read: number[] = [];
    const server = { now: 0 };
    const cache = createLinkCache({
      resolve: async (_domain, slug) => {
        read.push(server.now);
        return link(slug);
      },
      ...fixed,
      maxBytes: 1_000_000,
      metrics: createMetrics(),
      now: () => server.now,
      random: () => (draw = (draw + 0.37) % 1),
    });
    const slugs = Array.from({ length: 50 }, (_, index) => `s${index}`);
    for (const slug of slugs) await cache.get(domain, slug);
    read.length = 0;
    for (; server.now < 1.2 * ttlMs; server.now += 1_000) {
      for (const slug of slugs) await cache.get(domain, slug);
    }
    expect(read).toHaveLength(50);
    expect(Math.min(...read)).toBeGreaterThanOrEqual(0.9 * ttlMs);
    expect(Math.max(...read)).toBeLessThanOrEqual(1.1 * ttlMs + 1_000);
    expect(new Set(read).size).toBeGreaterThan(8);
  });
});

describe("a slug without a link", () => {
  test("is unknown at once for a short time, then asked for again", async () => {
    const { add, at, asked, server } = setUp();
    expect(await at("x")).toEqual({ kind: "unknown" });
    expect(at("x")).toEqual({ kind: "unknown" });
    add(link("x"));
    server.now += negativeTtlMs;
    expect(await at("x")).toEqual(found(link("x")));
    expect(asked).toEqual(["x", "x"]);
  });

  test("takes no room from links, however many are tried", async () => {
    const { add, at } = setUp({ maxBytes: 100_000 });
    const links = Array.from({ length: 100 }, (_, index) => link(`l${index}`));
    add(...links);
    for (const { slug } of links) await at(slug);
    for (let n = 0; n < 20_000; n += 1) await at(`scan-${n}`);
    for (const one of links) expect(at(one.slug)).toEqual(found(one));
  });
});

describe("memory", () => {
  test("is bounded by the bytes of the links, the least recently used going first", async () => {
    const { add, at } = setUp({ maxBytes: 200_001 });
    const long = Array.from({ length: 40 }, (_, index) =>
      link(`l${index}`, `https://x.y/${"a".repeat(16_000)}`),
    );
    add(...long, link("hot"));
    await at("hot");
    for (const { slug } of long) {
      await at(slug);
      await at("hot");
    }
    const held = long.filter(({ slug }) => !(at(slug) instanceof Promise));
    expect(held.map(({ slug }) => slug)).toEqual(long.slice(-held.length).map(({ slug }) => slug));
    expect(held.length).toBeGreaterThan(8);
    expect(held.length * 16_000).toBeLessThan(200_000);
    expect(at("hot")).toEqual(found(link("hot")));
  });

  test("is not taken by look-ups without bound: beyond 250 at once the answer is unavailable", async () => {
    const { at, server, asked } = setUp();
    const answered = Promise.withResolvers<void>();
    server.answer = answered.promise;
    const waiting = Array.from({ length: 250 }, (_, index) => at(`s${index}`));
    expect(at("one-more")).toEqual(unavailable);
    expect(asked).toHaveLength(250);
    answered.resolve();
    await all(waiting);
    expect(await at("one-more")).toEqual({ kind: "unknown" });
  });
});

describe("while Postgres is away", () => {
  test("links in memory are given at once, for as long as they may be stale", async () => {
    const { add, at, server } = setUp();
    add(link("x"));
    await at("x");
    server.away = true;
    server.now += staleMs - 1_000;
    expect(await at("x")).toEqual(found(link("x")));
    expect(at("x")).toEqual(found(link("x")));
    server.now += 1_000;
    expect(await at("x")).toEqual(unavailable);
  });

  test("what is not in memory is unavailable, and never taken for unknown", async () => {
    const { add, at, server } = setUp();
    server.away = true;
    expect(await at("x")).toEqual(unavailable);
    expect(at("x")).toEqual(unavailable);
    server.away = false;
    add(link("x"));
    server.now += 5_000;
    expect(await at("x")).toEqual(found(link("x")));
  });

  test("what was unknown is so no longer than it would have been", async () => {
    const { at, server } = setUp();
    await at("x");
    server.away = true;
    expect(at("x")).toEqual({ kind: "unknown" });
    server.now += negativeTtlMs;
    expect(await at("x")).toEqual(unavailable);
  });

  test("it is asked by one visitor at a time, with growing pauses, and by all once it is back", async () => {
    const { add, at, server, asked } = setUp();
    server.away = true;
    for (let n = 0; n < 60_000; n += 1) {
      server.now += 1;
      await at(`s${n}`);
    }
    // Pauses of 0.05, 0.1, 0.2 … 2.5 s: half of each ceiling, as `random` gives 0.5.
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.length).toBeLessThan(40);
    server.away = false;
    add(link("x"));
    server.now += 5_000;
    await at("first");
    expect(await all([at("x"), at("y")])).toEqual([found(link("x")), { kind: "unknown" }]);
  });

  test("nobody else waits for the one look-up that finds out whether it is back", async () => {
    const { at, server } = setUp();
    server.away = true;
    await at("x");
    server.now += 5_000;
    const answered = Promise.withResolvers<void>();
    server.answer = answered.promise;
    const first = at("x");
    server.now += 1_000;
    expect(at("y")).toEqual(unavailable);
    answered.resolve();
    expect(await first).toEqual(unavailable);
  });

  test("only the first of the look-ups that fail together makes the pause longer", async () => {
    const { at, server, asked } = setUp();
    const answered = Promise.withResolvers<void>();
    server.answer = answered.promise;
    server.away = true;
    const together = Array.from({ length: 100 }, (_, index) => at(`s${index}`));
    server.now += 1_000;
    answered.resolve();
    await all(together);
    server.now += 100;
    await at("again");
    expect(asked).toHaveLength(101);
  });
});

describe("the hottest links", () => {
  test("are the most used of late, most used first", async () => {
    const { add, at, cache, server } = setUp();
    const links = ["yesterday", "cold", "warm", "hot"].map((slug) => link(slug));
    add(...links);
    const use = async (slug: string, times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) await at(slug);
    };
    await use("yesterday", 1_000);
    server.now += 20 * ttlMs;
    await use("hot", 100);
    await use("warm", 10);
    await use("cold", 1);
    expect(cache.hottest(3).map(({ slug }) => slug)).toEqual(["hot", "warm", "cold"]);
    expect(cache.hottest(0)).toEqual([]);
    expect(cache.hottest(10)).toHaveLength(4);
  });

  test("keep their place through being read again, and lose it to new favourites in time", async () => {
    const { add, at, cache, server } = setUp();
    add(link("old"), link("new"));
    for (let n = 0; n < 1_000; n += 1) await at("old");
    for (let n = 0; n < 10; n += 1) await at("new");
    server.now += 2 * ttlMs;
    await at("old");
    expect(cache.hottest(1)).toEqual([link("old")]);
    for (let round = 0; round < 20; round += 1) {
      server.now += 2 * ttlMs;
      await at("old");
      for (let n = 0; n < 10; n += 1) await at("new");
    }
    expect(cache.hottest(1)).toEqual([link("new")]);
  });

  test("of an earlier process are given while Postgres is away, and in the same order again", async () => {
    const { at, cache, server } = setUp();
    server.away = true;
    cache.seed([link("first"), link("second")]);
    expect(await at("second")).toEqual(found(link("second")));
    expect(at("first")).toEqual(found(link("first")));
    const next = setUp().cache;
    next.seed([link("first"), link("second"), link("third")]);
    expect(next.hottest(2)).toEqual([link("first"), link("second")]);
  });

  test("of an earlier process are read anew while Postgres is there", async () => {
    const { add, at, cache } = setUp();
    add({ ...link("x"), disabled: true });
    cache.seed([link("x")]);
    expect(await at("x")).toEqual(found({ ...link("x"), disabled: true }));
    cache.seed([link("x")]);
    expect(at("x")).toEqual(found({ ...link("x"), disabled: true }));
  });
});

/** Look-ups that nobody waits for have come to their end. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function all(given: readonly (Resolution | Promise<Resolution>)[]): Promise<Resolution[]> {
  return Promise.all(given.map(async (one) => one));
}
