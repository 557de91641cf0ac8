import { describe, expect, test } from "vitest";
import {
  all,
  found,
  link,
  negativeTtlMs,
  settled,
  setUp,
  ttlMs,
  unavailable,
  unknown,
} from "./testing/cache-rig.ts";

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
    const { add, at, clock } = setUp();
    add(link("x"));
    await at("x");
    add(link("x", "https://example.com/new"));
    clock.now += ttlMs;
    expect(at("x")).toEqual(found(link("x")));
    await settled();
    expect(at("x")).toEqual(found(link("x", "https://example.com/new")));
  });

  test("long past its time is read again before it is given", async () => {
    const { add, at, clock } = setUp();
    add(link("x"));
    await at("x");
    add({ ...link("x"), disabled: true });
    clock.now += 2 * ttlMs;
    expect(await at("x")).toEqual(found({ ...link("x"), disabled: true }));
  });

  test("that is gone from Postgres is unknown from then on", async () => {
    const { add, at, rows, clock } = setUp();
    add(link("x"));
    await at("x");
    rows.clear();
    clock.now += 2 * ttlMs;
    expect(await at("x")).toEqual(unknown);
    expect(at("x")).toEqual(unknown);
  });

  test("runs out at another moment than those read with it", async () => {
    let draw = 0;
    const read: number[] = [];
    const { add, at, asked, clock } = setUp({ random: () => (draw = (draw + 0.37) % 1) });
    const slugs = Array.from({ length: 50 }, (_, index) => `s${index}`);
    add(...slugs.map((slug) => link(slug)));
    for (const slug of slugs) await at(slug);
    for (const startedAt = clock.now; clock.now < startedAt + 1.2 * ttlMs; clock.now += 1_000) {
      for (const slug of slugs) {
        const before = asked.length;
        await at(slug);
        if (asked.length > before) read.push(clock.now - startedAt);
      }
    }
    expect(read).toHaveLength(50);
    expect(Math.min(...read)).toBeGreaterThanOrEqual(0.9 * ttlMs);
    expect(Math.max(...read)).toBeLessThanOrEqual(1.1 * ttlMs + 1_000);
    expect(new Set(read).size).toBeGreaterThan(8);
  });
});

describe("a slug without a link", () => {
  test("is unknown at once for a short time, then asked for again", async () => {
    const { add, at, asked, clock } = setUp();
    expect(await at("x")).toEqual(unknown);
    expect(at("x")).toEqual(unknown);
    add(link("x"));
    clock.now += negativeTtlMs;
    expect(await at("x")).toEqual(found(link("x")));
    expect(asked).toEqual(["x", "x"]);
  });

  test("takes no room from links, though a hundred thousand are tried", async () => {
    const { add, at } = setUp({ maxBytes: 100_000 });
    const links = Array.from({ length: 100 }, (_, index) => link(`l${index}`));
    add(...links);
    for (const { slug } of links) await at(slug);
    for (let n = 0; n < 100_000; n += 1) await at(`scan-${n}`);
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
    const { at, postgres, asked } = setUp();
    const answered = Promise.withResolvers<void>();
    postgres.answer = answered.promise;
    const waiting = Array.from({ length: 250 }, (_, index) => at(`s${index}`));
    expect(at("one-more")).toEqual(unavailable);
    expect(asked).toHaveLength(250);
    answered.resolve();
    await all(waiting);
    expect(await at("one-more")).toEqual(unknown);
  });
});

describe("the hottest links", () => {
  test("are the most used of late, most used first", async () => {
    const { add, at, cache, clock } = setUp();
    const links = ["yesterday", "cold", "warm", "hot"].map((slug) => link(slug));
    add(...links);
    const use = async (slug: string, times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) await at(slug);
    };
    await use("yesterday", 1_000);
    clock.now += 20 * ttlMs;
    await use("hot", 100);
    await use("warm", 10);
    await use("cold", 1);
    expect(cache.hottest(3).map(({ slug }) => slug)).toEqual(["hot", "warm", "cold"]);
    expect(cache.hottest(0)).toEqual([]);
    expect(cache.hottest(10)).toHaveLength(4);
  });

  test("keep their place through being read again, and lose it to new favourites in time", async () => {
    const { add, at, cache, clock } = setUp();
    add(link("old"), link("new"));
    for (let n = 0; n < 1_000; n += 1) await at("old");
    for (let n = 0; n < 10; n += 1) await at("new");
    clock.now += 2 * ttlMs;
    await at("old");
    expect(cache.hottest(1)).toEqual([link("old")]);
    for (let round = 0; round < 20; round += 1) {
      clock.now += 2 * ttlMs;
      await at("old");
      for (let n = 0; n < 10; n += 1) await at("new");
    }
    expect(cache.hottest(1)).toEqual([link("new")]);
  });

  test("of an earlier process are given while Postgres is away, and in the same order again", async () => {
    const { at, cache, postgres } = setUp();
    postgres.away = true;
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
