import { describe, expect, test } from "vitest";
import { createRecentChanges } from "./recent-changes.ts";
import { all, found, link, settled, setUp, ttlMs, unknown } from "./testing/cache-rig.ts";

const old = link("x", "https://example.com/old");
const edited = link("x", "https://example.com/new");

describe("a link that has changed", () => {
  test("is read again at its next visit, which does not wait", async () => {
    const { add, at, changed } = setUp();
    add(old);
    await at("x");
    add(edited);
    changed("x", 2);
    expect(at("x")).toEqual(found(old));
    await settled();
    expect(at("x")).toEqual(found(edited));
  });

  test("is waited for when its next visit comes later than a quarter of a second", async () => {
    const { add, at, changed, clock } = setUp();
    add(old);
    await at("x");
    add({ ...old, disabled: true });
    changed("x", 2);
    clock.now += 250;
    expect(await at("x")).toEqual(found({ ...old, disabled: true }));
  });

  test("is not kept as it was when it changed while it was being read", async () => {
    const { add, at, changed, postgres, clock } = setUp();
    add(old);
    const answered = Promise.withResolvers<void>();
    postgres.answer = answered.promise;
    const reading = at("x");
    add(edited);
    changed("x", 2);
    answered.resolve();
    expect(await reading).toEqual(found(old));
    clock.now += 250;
    expect(await at("x")).toEqual(found(edited));
  });

  test("is served as it was while Postgres cannot be asked", async () => {
    const { add, at, changed, postgres, clock } = setUp();
    add(old);
    await at("x");
    postgres.away = true;
    changed("x", 2);
    clock.now += 250;
    expect(await at("x")).toEqual(found(old));
    expect(at("x")).toEqual(found(old));
  });

  test("that was unknown before is found at once; one that is deleted is unknown", async () => {
    const { add, at, rows, changed, clock } = setUp();
    await at("x");
    add(old);
    changed("x", 2);
    expect(await at("x")).toEqual(found(old));
    rows.clear();
    changed("x", 3);
    clock.now += 250;
    expect(await at("x")).toEqual(unknown);
  });

  test("is not taken for unknown when it was made while that was being read", async () => {
    const { add, at, changed, postgres } = setUp();
    const answered = Promise.withResolvers<void>();
    postgres.answer = answered.promise;
    const reading = at("x");
    add(old);
    changed("x", 2);
    answered.resolve();
    expect(await reading).toEqual(unknown);
    expect(await at("x")).toEqual(found(old));
  });

  test("costs others no look-up", async () => {
    const { add, at, changed, asked } = setUp();
    add(old, link("y"));
    await all([at("x"), at("y")]);
    changed("x", 2);
    expect(at("y")).toEqual(found(link("y")));
    expect(asked).toEqual(["x", "y"]);
  });

  test("is found however its slug was written, and kept under its own name only", async () => {
    const { rows, at } = setUp();
    rows.set("X", old);
    expect(await at("X")).toEqual(found(old));
    rows.set("X", edited);
    expect(await at("X")).toEqual(found(edited));
  });
});

test("when anything may have changed, everything is read again", async () => {
  const { add, at, learn, clock, asked } = setUp();
  add(old, link("y"));
  await all([at("x"), at("y"), at("none")]);
  clock.now += ttlMs / 2;
  learn({ kind: "all", position: 5 });
  expect([at("x"), at("y")]).toEqual([found(old), found(link("y"))]);
  expect(await at("none")).toEqual(unknown);
  expect(asked).toEqual(["x", "y", "none", "x", "y", "none"]);
  await settled();
  expect(at("x")).toEqual(found(old));
  expect(asked).toHaveLength(6);
});

describe("the memory of changes", () => {
  test("trusts what was read after the last change of a link", () => {
    const recent = createRecentChanges();
    recent.note("a", 10, 1);
    recent.note("a", 8, 2);
    expect([recent.isSeenFrom(10, "a"), recent.isSeenFrom(11, "a"), recent.isSeenFrom(0, "b")]).toEqual([
      false,
      true,
      true,
    ]);
    expect([recent.lastAt("a"), recent.lastAt("b")]).toEqual([2, -Infinity]);
  });

  test("is bounded, and then trusts nothing that is as old as what it has forgotten", () => {
    const recent = createRecentChanges(2);
    for (const [key, position] of [
      ["a", 10],
      ["b", 11],
      ["c", 12],
    ] as const) {
      recent.note(key, position, position);
    }
    expect([recent.isSeenFrom(10, "a"), recent.isSeenFrom(10, "z"), recent.isSeenFrom(11, "z")]).toEqual([
      false,
      false,
      true,
    ]);
    recent.noteAll(20, 20);
    expect([recent.isSeenFrom(20, "c"), recent.isSeenFrom(21, "c")]).toEqual([false, true]);
  });
});
