import type { Log } from "@sluice/service/log.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import type { LinkOptions } from "./link-options.ts";
import type { Link, LinkStore, NewLink } from "./link-store.ts";
import { openLinkStore } from "./open.ts";
import { isPassword } from "./password.ts";
import { connect, sql } from "./testing/raw-postgres.ts";
import { openTestStore } from "./testing/store.ts";

const destination = "https://example.com/";

const options: LinkOptions = {
  startsAt: 1_800_000_000_000,
  maxClicks: 10,
  rules: [{ countries: ["DE"], languages: ["de"], destination: "https://example.com/de" }],
  variants: [
    { destination: "https://example.com/a", weight: 1 },
    { destination: "https://example.com/b", weight: 3 },
  ],
  apps: { ios: "fb://profile/1" },
  passQuery: true,
  utm: { source: "news", campaign: "a b" },
  noindex: true,
  trackConversions: true,
};

describeWith("a link's parts on a real Postgres", openTestStore, (opened) => {
  const store = (): LinkStore => opened().store;
  const create = (link: Partial<NewLink>) => store().create({ domain: "a.example", destination, ...link });
  const read = (slug: string): Promise<Link | undefined> => store().resolve("a.example", slug);
  const update = (slug: string, changes: Parameters<LinkStore["update"]>[2]) =>
    store().update("a.example", slug, changes);

  test("are given back as they were given", async () => {
    const made = await create({ slug: "full", ...options });
    expect(made).toMatchObject(options);
    expect(await read("full")).toEqual(made);
    expect(
      (await store().list({ domain: "a.example", limit: 1_000 })).find(({ id }) => id === made.id),
    ).toEqual(made);
  });

  test("that nobody gave are not there", async () => {
    const { id: _id, workspaceId: _workspaceId, ...made } = await create({ slug: "bare" });
    expect(made).toEqual({ domain: "a.example", slug: "bare", destination, status: 302, disabled: false });
  });

  test("are changed one at a time, and taken away one at a time", async () => {
    const made = await create({ slug: "edit", ...options, expiresAt: 1_900_000_000_000 });
    const steps = [
      [{ destination: "https://example.org/" }, { destination: "https://example.org/" }],
      [{ status: 308 }, { status: 308 }],
      [{ maxClicks: 11 }, { maxClicks: 11 }],
      [{ utm: { medium: "mail" } }, { utm: { medium: "mail" } }],
    ] as const;
    let expected: object = made;
    for (const [changes, changed] of steps) {
      expected = { ...expected, ...changed };
      expect(await update("edit", changes)).toEqual(expected);
    }
    const nothing = {
      startsAt: null,
      expiresAt: null,
      maxClicks: null,
      rules: null,
      variants: null,
      apps: null,
      passQuery: null,
      utm: null,
      noindex: null,
      trackConversions: null,
      status: null,
    } as const;
    const { id, workspaceId } = made;
    const plain = { id, workspaceId, domain: "a.example", slug: "edit", destination: "https://example.org/" };
    expect(await update("edit", nothing)).toEqual({ ...plain, status: 302, disabled: false });
  });

  test("B35: an edit leaves every other byte as it is", async () => {
    for (const [index, exact] of unchanged.entries()) {
      const made = await create({ slug: `b35-${index}`, destination: exact, apps: { ios: exact } });
      expect(made.destination).toBe(exact);
      expect(await update(made.slug, { noindex: true })).toEqual({ ...made, noindex: true });
      expect(await update(made.slug, { destination: made.destination, apps: { ios: exact } })).toEqual({
        ...made,
        noindex: true,
      });
    }
  });

  test("every change makes it later, also within one transaction and where the clock was ahead", async () => {
    await create({ slug: "later" });
    await using other = await connect(opened().url);
    const at = "(extract(epoch FROM updated_at) * 1e6)::float8 AS at";
    const timeOf = async (text: string): Promise<number> =>
      (await other.query<{ at: number }>(text)).rows[0]?.at ?? 0;
    const now = () => timeOf(`SELECT ${at} FROM links WHERE slug = 'later'`);
    const touch = () => timeOf(`UPDATE links SET slug = slug WHERE slug = 'later' RETURNING ${at}`);
    const times = [await now()];
    await update("later", { status: 301 });
    times.push(await now());
    await store().disable("a.example", "later");
    times.push(await now());
    await other.query("BEGIN");
    times.push(await touch(), await touch());
    await other.query("COMMIT");
    await other.query("ALTER TABLE links DISABLE TRIGGER links_updated_at");
    await other.query("UPDATE links SET updated_at = '2100-01-01T00:00:00Z' WHERE slug = 'later'");
    await other.query("ALTER TABLE links ENABLE TRIGGER links_updated_at");
    times.push(await now(), await touch());
    expect(new Set(times).size).toBe(7);
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
  });

  test("a password is kept as a hash, replaced and taken away", async () => {
    const { passwordHash = "" } = await create({ slug: "secret", password: "open sesame" });
    expect(await isPassword("open sesame", passwordHash)).toBe(true);
    const { passwordHash: next = "" } = await update("secret", { password: "new" });
    expect(await isPassword("open sesame", next)).toBe(false);
    expect(await update("secret", { password: null })).not.toHaveProperty("passwordHash");
    const long = "x".repeat(257);
    await expect(create({ password: long })).rejects.toThrow(/^password takes 1 to 256 characters; got 257$/);
    expect(JSON.stringify(await sql(opened().url, "SELECT * FROM links"))).not.toContain("open sesame");
  });

  test("A7: a link is disabled and enabled under `store` and `store/`", async () => {
    await create({ slug: "store" });
    expect(await store().disable("a.example", "store")).toMatchObject({ disabled: true });
    expect(await store().enable("a.example", "store/")).toMatchObject({ disabled: false });
    await expect(store().enable("a.example", "never")).rejects.toMatchObject({ code: "not-found" });
  });

  test("B32: no part leads to a domain of this installation, in any notation", async () => {
    await store().ensureDomain("127.0.0.1", "one");
    const message =
      /^destination takes a host that is no domain of short links; got "(b\.example|127\.0\.0\.1)"$/;
    const own = [
      "https://B.Example.:8443/x",
      "http://2130706433/",
      "http://0x7f.1/",
      "http://[::ffff:127.0.0.1]/",
    ];
    await create({ slug: "loop" });
    for (const loop of own) {
      const rules = [{ countries: ["DE"], destination: loop }];
      for (const part of [{ destination: loop }, { rules }, { apps: { android: loop } }]) {
        await expect(create(part)).rejects.toThrow(message);
        await expect(update("loop", part)).rejects.toThrow(message);
      }
    }
  });

  test.each<[Partial<NewLink>, RegExp]>([
    [{ startsAt: 2, expiresAt: 1 }, /^expiresAt takes a time after startsAt; got 1$/],
    [{ maxClicks: -1 }, /^maxClicks takes a whole number from 1 .*; got -1$/],
    [
      { variants: [{ destination: "x", weight: 1 }] },
      /^variants\[0\]\.destination takes an absolute URL.*; got "x"$/,
    ],
    [
      {
        rules: Array.from({ length: 5 }, () => ({
          countries: ["DE"],
          destination: destination + "x".repeat(16_000),
        })),
      },
      /^options take at most 64 KiB in all$/,
    ],
  ])("are refused by name: %j", async (part, message) => {
    await expect(create(part)).rejects.toThrow(message);
    await create({ slug: "kept" }).catch(() => {});
    await expect(update("kept", part)).rejects.toThrow(message);
  });

  test("that cannot be read take no link down, and are said once", async () => {
    await create({ slug: "odd", ...options });
    const { url } = opened();
    await sql(
      url,
      `UPDATE links SET options = options || '{"rules": [7], "colour": "red"}' WHERE slug = 'odd'`,
    );
    const said: object[] = [];
    const log: Log = { ...silentLog, error: (fields) => said.push(fields) };
    await using reader = openLinkStore(url, { log });
    const { rules: _rules, ...others } = options;
    for (let times = 0; times < 3; times += 1) {
      const link = await reader.resolve("a.example", "odd");
      expect(link).toMatchObject({ slug: "odd", destination, ...others });
      expect(link).not.toHaveProperty("rules");
    }
    expect(said).toEqual([expect.objectContaining({ options: ["rules", "colour"], times: 1 })]);
  });
});

/** From public reports of what other shorteners did to it. */
const unchanged = [
  "http://domain.com/bad%20space/",
  "http://example.xyz/content/all?q=%23Eurovision",
  "https://google.com/?abc#123",
  "https://example.com/%e4%B8%ad?x=%2f%2F&y=+%20+#%C3%A9",
];
