import { describe, expect, test } from "vitest";
import {
  all,
  found,
  link,
  negativeTtlMs,
  settled,
  setUp,
  SharedRedis,
  staleMs,
  ttlMs,
  unavailable,
  unknown,
} from "./testing/cache-rig.ts";

describe("while Postgres is away", () => {
  test("links in memory are given at once, for as long as they may be stale", async () => {
    const { add, at, clock, postgres } = setUp();
    add(link("x"));
    await at("x");
    postgres.away = true;
    clock.now += staleMs - 1_000;
    expect(await at("x")).toEqual(found(link("x")));
    expect(at("x")).toEqual(found(link("x")));
    clock.now += 1_000;
    expect(await at("x")).toEqual(unavailable);
  });

  test("what is not in memory is unavailable, and never taken for unknown", async () => {
    const { add, at, clock, postgres } = setUp();
    postgres.away = true;
    expect(await at("x")).toEqual(unavailable);
    expect(at("x")).toEqual(unavailable);
    postgres.away = false;
    add(link("x"));
    clock.now += 5_000;
    expect(at("x")).toEqual(unavailable);
    await settled();
    expect(await at("x")).toEqual(found(link("x")));
  });

  test("what was unknown is so no longer than it would have been", async () => {
    const { at, clock, postgres } = setUp();
    await at("x");
    postgres.away = true;
    expect(at("x")).toEqual(unknown);
    clock.now += negativeTtlMs;
    expect(await at("x")).toEqual(unavailable);
  });

  test("one visitor finds it out, nobody waits from then on, and all ask again once it is back", async () => {
    const { add, at, clock, postgres, asked } = setUp();
    postgres.away = true;
    expect(await at("first")).toEqual(unavailable);
    for (let n = 0; n < 60_000; n += 1) {
      clock.now += 1;
      expect(at(`s${n}`)).toEqual(unavailable);
      await settled();
    }
    expect(asked).toEqual(["first"]);
    // Pauses of 0.05, 0.1, 0.2 … 2.5 s: half of each ceiling, as `random` gives 0.5.
    expect(postgres.pings).toBeGreaterThan(20);
    expect(postgres.pings).toBeLessThan(40);
    postgres.away = false;
    add(link("x"));
    clock.now += 5_000;
    expect(at("x")).toEqual(unavailable);
    await settled();
    expect(await all([at("x"), at("y")])).toEqual([found(link("x")), unknown]);
  });

  test("only the first of the look-ups that fail together makes the pause longer", async () => {
    const { at, clock, postgres } = setUp();
    const answered = Promise.withResolvers<void>();
    postgres.answer = answered.promise;
    postgres.away = true;
    const together = Array.from({ length: 100 }, (_, index) => at(`s${index}`));
    clock.now += 1_000;
    answered.resolve();
    await all(together);
    clock.now += 100;
    expect(at("again")).toEqual(unavailable);
    expect(postgres.pings).toBe(1);
  });

  test("one that answers no more is given up after half a second, and then costs nobody anything", async () => {
    const { add, at, clock, postgres } = setUp();
    add(link("x"));
    await at("x");
    postgres.answer = new Promise(() => {});
    clock.now += 3 * ttlMs;
    const startedAt = performance.now();
    expect(await all([at("x"), at("y")])).toEqual([found(link("x")), unavailable]);
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(at("x")).toEqual(found(link("x")));
    expect(at("y")).toEqual(unavailable);
  });
});

describe("with a Redis", () => {
  test("what one edge has read another finds there", async () => {
    const { one, other } = twoEdges();
    one.add(link("x"));
    one.feed.position = 10;
    await one.at("x");
    await settled();
    expect(await other.at("x")).toEqual(found(link("x")));
    expect(other.asked).toEqual([]);
    expect(other.at("x")).toEqual(found(link("x")));
  });

  test("an edge that knows of a change takes nothing that was read before, and replaces it", async () => {
    const { one, other, redis } = twoEdges();
    one.add(link("x", "https://example.com/old"));
    one.feed.position = 10;
    await one.at("x");
    await settled();
    other.add(link("x", "https://example.com/new"));
    other.feed.position = 11;
    other.changed("x", 10);
    expect(await other.at("x")).toEqual(found(link("x", "https://example.com/new")));
    await settled();
    expect([...redis.held.values()]).toEqual([{ link: link("x", "https://example.com/new"), position: 11 }]);
  });

  test("an old link that is written after a newer one is not taken by who knows of the change", async () => {
    const { one, other, redis } = twoEdges();
    // It has read the old one and is slow to write it down.
    one.add(link("x", "https://example.com/old"));
    one.feed.position = 10;
    const written = Promise.withResolvers<void>();
    const reading = one.at("x");
    redis.answer = written.promise;
    other.add(link("x", "https://example.com/new"));
    other.feed.position = 12;
    other.changed("x", 11);
    written.resolve();
    await all([reading, other.at("x")]);
    await settled();
    redis.held.set("a.example/x", { link: link("x", "https://example.com/old"), position: 10 });
    const late = setUp({ redis });
    late.add(link("x", "https://example.com/new"));
    late.feed.position = 12;
    late.changed("x", 11);
    expect(await late.at("x")).toEqual(found(link("x", "https://example.com/new")));
  });

  test("an edge that cannot know what has changed asks Postgres, and takes Redis's word when it is away", async () => {
    const { one, other } = twoEdges();
    one.add(link("x"), link("y"));
    one.feed.position = 10;
    await all([one.at("x"), one.at("y")]);
    await settled();
    other.feed.position = undefined;
    other.add(link("x", "https://example.com/new"));
    expect(await other.at("x")).toEqual(found(link("x", "https://example.com/new")));
    other.postgres.away = true;
    expect(await other.at("y")).toEqual(found(link("y")));
    // Not for good: once Postgres is there it is asked.
    other.postgres.away = false;
    other.add(link("y", "https://example.com/new"));
    other.clock.now += 5_000;
    await other.at("y");
    await settled();
    other.clock.now += 1_000;
    expect(await other.at("y")).toEqual(found(link("y", "https://example.com/new")));
  });

  test("one that is away, or silent, costs one visitor 50 ms and the others nothing", async () => {
    const { one, redis } = twoEdges();
    one.add(link("x"), link("y"));
    redis.answer = new Promise(() => {});
    const startedAt = performance.now();
    expect(await one.at("x")).toEqual(found(link("x")));
    expect(performance.now() - startedAt).toBeLessThan(400);
    expect(redis.asked).toHaveLength(1);
    expect(await one.at("y")).toEqual(found(link("y")));
    expect(redis.asked).toHaveLength(1);
  });

  test("slugs that nobody has are not written there", async () => {
    const { one, redis } = twoEdges();
    for (let n = 0; n < 100; n += 1) await one.at(`scan-${n}`);
    await settled();
    expect(redis.held.size).toBe(0);
  });
});

/** Two edges over one Redis and, as far as they are told the same, one Postgres. */
function twoEdges() {
  const redis = new SharedRedis();
  return { redis, one: setUp({ redis }), other: setUp({ redis }) };
}
