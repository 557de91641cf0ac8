import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";
import type { LinkStore, NewLink } from "./link-store.ts";
import { migrate } from "./migrate.ts";
import { openLinkStore } from "./open.ts";
import { connect, sql } from "./testing/raw-postgres.ts";
import { openTestStore } from "./testing/store.ts";

const log = silentLog;
const destination = "https://example.com/";

describeWith("a link store on a real Postgres", openTestStore, (opened) => {
  const store = (): LinkStore => opened().store;
  const create = (link: Partial<NewLink>) => store().create({ domain: "a.example", destination, ...link });

  test("resolves a link as it was created", async () => {
    const expiresAt = 1_893_456_000_123;
    const made = await create({
      slug: "full",
      destination: "http://www.tübingen.de",
      status: 308,
      expiresAt,
    });
    expect(made).toEqual({
      id: made.id,
      workspaceId: made.workspaceId,
      domain: "a.example",
      slug: "full",
      destination: "http://www.xn--tbingen-n2a.de/",
      status: 308,
      expiresAt,
      disabled: false,
    });
    expect(await store().resolve("a.example", "full")).toEqual(made);
  });

  test("gives 302 and no end to a link that says nothing of them", async () => {
    const made = await create({ slug: "plain" });
    expect(made.status).toBe(302);
    expect(made).not.toHaveProperty("expiresAt");
  });

  test("A11, A17, A20: keeps domains and cases of a slug apart, and its one form together", async () => {
    const first = await create({ slug: "Same" });
    const other = await create({ slug: "same" });
    const elsewhere = await create({ slug: "Same", domain: "B.example:443" });
    expect(new Set([first.id, other.id, elsewhere.id]).size).toBe(3);
    expect((await store().resolve("a.example", "Same"))?.id).toBe(first.id);
    expect((await store().resolve("b.example", "Same"))?.id).toBe(elsewhere.id);
    const composed = await create({ slug: "cafe\u0301" });
    expect((await store().resolve("a.example", "caf\u00e9"))?.id).toBe(composed.id);
    await expect(create({ slug: "caf\u00e9" })).rejects.toMatchObject({ code: "conflict", retryable: false });
  });

  test("B20: takes the longest slug and the longest destination", async () => {
    const slug = "日".repeat(512);
    const long = `https://example.com/#${"a".repeat(16_384 - 21)}`;
    await create({ slug, destination: long });
    expect(await store().resolve("a.example", slug)).toMatchObject({ slug, destination: long });
  });

  test("resolves what is not there to nothing, whatever is asked", async () => {
    for (const slug of [
      "missing",
      "",
      "\u0000",
      "\ud800",
      "a/b",
      "x".repeat(100_000),
      "'; DROP TABLE links; --",
    ]) {
      expect(await store().resolve("a.example", slug)).toBeUndefined();
    }
    expect(await store().resolve("'\\x.example", "full")).toBeUndefined();
  });

  test("draws a slug that can be read aloud", async () => {
    const { slug } = await create({});
    expect(slug).toMatch(/^[2-9a-zA-Z]{7}$/);
    expect(await store().resolve("a.example", slug)).toBeDefined();
  });

  test.each<[Partial<NewLink>, RegExp]>([
    [{ slug: "a/b" }, /^slug takes .*; got "a\/b"$/],
    [{ slug: "robots.txt" }, /^slug takes .*; got "robots.txt"$/],
    [{ domain: "" }, /^domain takes .*; got ""$/],
    [{ destination: "bbc.co.uk" }, /^destination takes an absolute URL.*; got "bbc.co.uk"$/],
    [
      { destination: `data:${"x".repeat(200)}` },
      /^destination takes one of the schemes .*; got "data:x{94}…$/,
    ],
    [{ expiresAt: Number.NaN }, /^expiresAt takes milliseconds since 1970; got null$/],
    [{ expiresAt: 1e300 }, /^expiresAt takes .*$/],
  ])("refuses %j, naming the field, what it takes and what it got", async (part, message) => {
    await expect(create(part)).rejects.toMatchObject({ name: "LinkStoreError", code: "invalid" });
    await expect(create(part)).rejects.toThrow(message);
  });

  test("says which of domain and workspace does not exist", async () => {
    await expect(create({ domain: "c.example" })).rejects.toMatchObject({
      code: "not-found",
      message: "there is no domain c.example",
    });
    await expect(create({ workspaceId: 999 })).rejects.toMatchObject({
      code: "not-found",
      message: "there is no such workspace",
    });
  });

  test("gives a link to the domain's workspace unless told otherwise", async () => {
    const { workspaceId: one } = await store().ensureDomain("a.example", "one");
    const { workspaceId: two } = await store().ensureDomain("b.example", "two");
    expect(await create({})).toMatchObject({ workspaceId: one });
    expect(await create({ workspaceId: two })).toMatchObject({ workspaceId: two, domain: "a.example" });
  });

  test("makes a domain and its workspace once, and gives no domain to a second one", async () => {
    const together = await Promise.all(
      Array.from({ length: 10 }, () => store().ensureDomain("New.example", "new")),
    );
    expect(new Set(together.map(({ workspaceId }) => workspaceId)).size).toBe(1);
    await expect(store().ensureDomain("new.example", "one")).rejects.toMatchObject({ code: "conflict" });
  });

  test("disables a link for good, and again without harm", async () => {
    await create({ slug: "gone" });
    expect(await store().disable("A.example", "gone")).toMatchObject({ slug: "gone", disabled: true });
    expect(await store().disable("a.example", "gone")).toMatchObject({ disabled: true });
    expect(await store().resolve("a.example", "gone")).toMatchObject({ disabled: true });
    await expect(store().disable("a.example", "never")).rejects.toMatchObject({ code: "not-found" });
  });

  test("lists every link once, page by page", async () => {
    await store().ensureDomain("list.example", "one");
    const made = [];
    for (let n = 0; n < 5; n += 1) made.push(await create({ domain: "list.example" }));
    const first = await store().list({ domain: "list.example", limit: 3 });
    const rest = await store().list({ domain: "list.example", limit: 3, afterId: first.at(-1)?.id ?? 0 });
    expect([...first, ...rest]).toEqual(made);
    expect((await store().list({ limit: 1_000 })).length).toBeGreaterThan(5);
    await expect(store().list({ limit: 1_001 })).rejects.toMatchObject({ code: "invalid" });
  });

  test("resolves without writing", async () => {
    await create({ slug: "read" });
    const readOnly = new URL(opened().url);
    readOnly.searchParams.set("options", "-c default_transaction_read_only=on");
    await using reader = openLinkStore(readOnly.href, { log });
    await expect(reader.create({ domain: "a.example", destination })).rejects.toThrow(/read-only/);
    expect(await reader.resolve("a.example", "read")).toMatchObject({ slug: "read" });
  });

  test("answers many more requests at once than it has connections", async () => {
    await create({ slug: "busy" });
    const links = await Promise.all(Array.from({ length: 100 }, () => store().resolve("a.example", "busy")));
    expect(links.every((link) => link?.slug === "busy")).toBe(true);
  });

  test("gives up a look-up that does not end, and answers again afterwards", async () => {
    await create({ slug: "slow" });
    await using other = await connect(opened().url);
    await other.query("BEGIN; LOCK TABLE links IN ACCESS EXCLUSIVE MODE");
    const startedAt = performance.now();
    const stuck = Array.from({ length: 20 }, () => store().resolve("a.example", "slow"));
    const outcomes = await Promise.allSettled(stuck);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "unavailable", retryable: true } });
    }
    await other.query("ROLLBACK");
    expect(await store().resolve("a.example", "slow")).toMatchObject({ slug: "slow" });
  });

  test("goes on when the server ends its connections", async () => {
    await create({ slug: "cut" });
    await store().resolve("a.example", "cut");
    await sql(
      opened().url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice'",
    );
    // What was sent on a connection just then fails; that is what `retryable` is for.
    await store()
      .resolve("a.example", "cut")
      .catch(() => {});
    expect(await store().resolve("a.example", "cut")).toMatchObject({ slug: "cut" });
  });
});

describeWith("a link store on a Postgres without tables", testPostgres, (postgres) => {
  test("says what is missing, and works once it is there", async () => {
    await using store = openLinkStore(postgres().url, { log });
    await expect(store.ping()).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.resolve("a.example", "x")).rejects.toThrow(/run `sluice migrate`/);
    await migrate(postgres().url, { log });
    await store.ping();
    expect(await store.resolve("a.example", "x")).toBeUndefined();
  });
});

test("a link store opens and closes without a Postgres, and says that it is away", async () => {
  await using store = openLinkStore("postgres://localhost:1/none", { log });
  const away = { name: "LinkStoreError", code: "unavailable", retryable: true };
  await expect(store.resolve("a.example", "x")).rejects.toMatchObject(away);
  await expect(store.ping()).rejects.toMatchObject(away);
});
