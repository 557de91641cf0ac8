import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import type { LinkStore } from "./link-store.ts";
import { openLinkStore } from "./open.ts";
import { connect, sql } from "./testing/raw-postgres.ts";
import { openTestStore } from "./testing/store.ts";

const destination = "https://example.com/";

describeWith("domains on a real Postgres", openTestStore, (opened) => {
  const store = (): LinkStore => opened().store;

  test("a new domain does not serve until it is verified, and then goes on", async () => {
    const made = await store().ensureDomain("New.example", "one");
    expect(made).toMatchObject({ name: "new.example", caseMode: "exact", verified: false });
    expect(made.verificationToken).toMatch(/^[0-9a-f]{32}$/);
    expect(await store().resolveDomain("new.example")).toEqual(made);
    await store().markVerified("new.example");
    await store().markVerified("new.example");
    expect(await store().resolveDomain("new.example")).toEqual({ ...made, verified: true });
    expect(await store().ensureDomain("new.example", "one")).toEqual({ ...made, verified: true });
    await expect(store().markVerified("never.example")).rejects.toMatchObject({ code: "not-found" });
  });

  test.each(["localhost", "shop.localhost", "127.0.0.1"])("%s is verified at once", async (name) => {
    expect(await store().ensureDomain(name, "one")).toMatchObject({ verified: true });
  });

  test("settings are changed one by one, and taken away", async () => {
    await store().ensureDomain("set.example", "one");
    const homeUrl = "https://www.example.com/%20home";
    expect(await store().updateDomain("set.example", { homeUrl })).toMatchObject({ homeUrl });
    const both = await store().updateDomain("set.example", { notFoundUrl: "https://www.bücher.example" });
    expect(both).toMatchObject({ homeUrl, notFoundUrl: "https://www.xn--bcher-kva.example/" });
    const { homeUrl: _home, ...without } = both;
    expect(await store().updateDomain("set.example", { homeUrl: null })).toEqual(without);
    expect(await store().resolveDomain("set.example")).toEqual(without);
  });

  test.each([
    [
      { homeUrl: "javascript:alert(1)" },
      /^homeUrl takes one of the schemes .*; got "javascript:alert\(1\)"$/,
    ],
    [{ notFoundUrl: "https://A.example/x" }, /^homeUrl and notFoundUrl take a host.*; got "a.example"$/],
  ])("settings are refused by name: %j", async (changes, message) => {
    await expect(store().updateDomain("a.example", changes)).rejects.toThrow(message);
    await expect(store().updateDomain("c.example", {})).rejects.toThrow(/^there is no domain c.example$/);
  });

  test("are listed page by page, and a name that nobody has is nothing", async () => {
    const all = await store().listDomains({ limit: 1_000 });
    const [first] = await store().listDomains({ limit: 1 });
    const rest = await store().listDomains({ limit: 1_000, afterName: first?.name ?? "" });
    expect([first, ...rest]).toEqual(all);
    expect(await store().resolveDomain("never.example")).toBeUndefined();
  });

  test("A23: a domain without a name is refused", async () => {
    for (const name of ["", ".", " "]) {
      await expect(store().ensureDomain(name, "one")).rejects.toThrow(/^domain takes a host name/);
    }
  });

  test("A22: a domain is one however its letters are written", async () => {
    const made = await store().ensureDomain("aïo.li", "one");
    expect(made.name).toBe("xn--ao-tja.li");
    await store().ensureDomain("XN--AO-TJA.li.", "one");
    const link = await store().create({ domain: "AÏO.LI", slug: "x", destination });
    expect(await store().resolve("xn--ao-tja.li", "x")).toEqual(link);
  });

  test("A11: cases of a slug are two links, or one, as the domain says", async () => {
    await store().ensureDomain("fold.example", "one");
    await store().updateDomain("fold.example", { caseMode: "insensitive" });
    const made = await store().create({ domain: "fold.example", slug: "Ärger-ΣΑΣ", destination });
    expect(made.slug).toBe("ärger-σας");
    expect(await store().resolve("fold.example", "ÄRGER-σας")).toEqual(made);
    expect(await store().resolve("fold.example", "A\u0308rger-ΣΑΣ")).toEqual(made);
    const again = { domain: "fold.example", slug: "äRGER-ΣΑΣ", destination };
    await expect(store().create(again)).rejects.toThrow(/is taken$/);
    expect(await store().disable("fold.example", "ÄRGER-ΣΑΣ")).toMatchObject({ id: made.id, disabled: true });
    await store().create({ domain: "a.example", slug: "Test", destination });
    expect(await store().resolve("a.example", "test")).toBeUndefined();
  });

  test("of names asked for at once each gets its own link, by the mode of its domain", async () => {
    await store().ensureDomain("mixed.example", "one");
    await store().ensureDomain("folded.example", "one");
    await store().updateDomain("folded.example", { caseMode: "insensitive" });
    const create = (domain: string, slug: string) => store().create({ domain, slug, destination });
    const [upper, lower] = [await create("mixed.example", "AbC"), await create("mixed.example", "abc")];
    const folded = await create("folded.example", "abc");
    const names = [
      "mixed.example/abc",
      "folded.example/ABC",
      "mixed.example/AbC",
      "mixed.example/ABC",
      "no.example/abc",
    ];
    // More than one statement takes.
    const asked = Array.from({ length: 60 }, () => names).flat();
    const found = await Promise.all(
      asked.map((name) => {
        const [domain = "", slug = ""] = name.split("/");
        return store().resolve(domain, slug);
      }),
    );
    expect(found).toEqual(
      Array.from({ length: 60 }, () => [lower, folded, upper, undefined, undefined]).flat(),
    );
  });

  test("a slug drawn where cases are one is in lower case, without look-alikes", async () => {
    await store().ensureDomain("drawn.example", "one");
    await store().updateDomain("drawn.example", { caseMode: "insensitive" });
    const { slug } = await store().create({ domain: "drawn.example", destination });
    expect(slug).toMatch(/^[2-9a-kmnp-z]{7}$/);
  });

  test("the case mode is settled by the first link, also by one that is being made", async () => {
    await store().ensureDomain("settled.example", "one");
    const waiting = () => sql(opened().url, "SELECT FROM pg_locks WHERE NOT granted");
    await using other = await connect(opened().url);
    // The link that is being made waits to see whether this one takes its slug.
    await other.query("BEGIN");
    await other.query(`INSERT INTO links (workspace_id, domain_id, slug, destination)
      SELECT workspace_id, id, 'Test', 'https://example.com/' FROM domains WHERE name = 'settled.example'`);
    const making = store().create({ domain: "settled.example", slug: "Test", destination });
    await expect.poll(waiting).toHaveLength(1);
    const changing = store()
      .updateDomain("settled.example", { caseMode: "insensitive" })
      .catch((error: unknown) => error);
    await expect.poll(waiting).toHaveLength(2);
    await other.query("ROLLBACK");
    expect(await making).toMatchObject({ slug: "Test" });
    expect(await changing).toMatchObject({
      code: "invalid",
      message: "caseMode takes another value only while the domain has no links",
    });
    await store().updateDomain("settled.example", { caseMode: "exact" });
  });

  test("are found without writing", async () => {
    const readOnly = new URL(opened().url);
    readOnly.searchParams.set("options", "-c default_transaction_read_only=on");
    await using reader = openLinkStore(readOnly.href, { log: silentLog });
    expect(await reader.resolveDomain("a.example")).toMatchObject({ name: "a.example" });
  });
});
