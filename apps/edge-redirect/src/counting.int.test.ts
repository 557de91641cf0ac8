import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { botReasons, isHuman } from "@sluice/click-event/bot.ts";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { sendRaw, type Visit, visit } from "./testing/http.ts";
import { makeDatabase } from "./testing/mmdb.ts";
import { metric, until } from "./testing/ops.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0";
/** As a browser on a German line says it, by way of a proxy on this machine. */
const person = { "user-agent": browser, "x-forwarded-for": "198.51.100.7", "accept-language": "de" };
const { no_agent, preview, crawler, data_centre, spam_referrer, scanner } = botReasons;

const places = {
  "198.51.100.0/24": { country_code: "DE", city: "Kassel" },
  "203.0.113.0/24": { country_code: "US", city: "Council Bluffs" },
  "2001:db8::/32": { country_code: "FR", city: "Lyon" },
};
const networks = {
  "198.51.100.0/24": { autonomous_system_number: 3_320 },
  "203.0.113.0/24": { autonomous_system_number: 15_169 },
};

async function withEdge(
  { journal, env = {} }: { journal: Journal; env?: Record<string, string> },
  use: (edge: EdgeProcess) => Promise<void>,
): Promise<readonly ClickEvent[]> {
  const [geo, asn] = [join(journal.dir, "../places.mmdb"), join(journal.dir, "../networks.mmdb")];
  await writeFile(geo, makeDatabase(places));
  await writeFile(asn, makeDatabase(networks));
  const files = { GEO_DB_PATH: geo, GEO_ASN_DB_PATH: asn };
  await using edge = await journal.start({ env: { ...files, TRUSTED_PROXIES: "127.0.0.1", ...env } });
  await use(edge);
  edge.kill("SIGTERM");
  await edge.exited;
  return (await journal.read()).clicks;
}

async function askAsPerson({ port }: { port: number }): Promise<void> {
  await visit(port, "/plain", { headers: person });
}

/** Name of the row, what is asked, and the reasons it is kept with. */
const visits: readonly (readonly [string, string, Visit, number])[] = [
  ["a person", "/plain", { headers: person }, 0],
  ["D2", "/plain", { headers: { ...person, "user-agent": "facebookexternalhit/1.1" } }, preview.bit],
  [
    "D3",
    "/plain",
    { headers: { ...person, "user-agent": "http.rb/5.1.1 (Mastodon/4.2.0; +https://mastodon.social/)" } },
    preview.bit,
  ],
  ["D4", "/plain", { headers: { ...person, "user-agent": "Twitterbot/1.0" } }, preview.bit],
  ["D5", "/plain", { headers: { ...person, "user-agent": "WhatsApp/2.23.20.0 A" } }, preview.bit],
  [
    "D10",
    "/plain",
    {
      headers: {
        ...person,
        "user-agent":
          "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
      },
    },
    crawler.bit,
  ],
  ["D10", "/plain", { headers: { "x-forwarded-for": "198.51.100.7" } }, no_agent.bit],
  ["D12", "/plain", { headers: { ...person, "x-forwarded-for": "203.0.113.9" } }, data_centre.bit],
  ["spam", "/plain", { headers: { ...person, referer: "http://www.semalt.com/x" } }, spam_referrer.bit],
  ["A24", "/wp-login.php", { headers: person }, scanner.bit],
  [
    "two reasons",
    "/wp-login.php",
    { headers: { ...person, "user-agent": "curl/8.5.0" } },
    crawler.bit | scanner.bit,
  ],
];

describeWith("what an edge counts", openWorld, (world) => {
  beforeAll(async () => {
    const { link } = world();
    for (const slug of ["plain", "wp-login.php"]) await link(slug);
  });

  it("D2, D3, D4, D5, D10, D12, D16, A24: keeps programs with their reasons, and sends them where it sends people", async () => {
    await using journal = await openJournal(world().postgres.url);
    const clicks = await withEdge({ journal }, async ({ port }) => {
      for (const [, path, how] of visits) {
        const answer = await visit(port, path, how);
        expect(answer).toMatchObject({ status: 302, headers: { location: `https://example.com${path}` } });
      }
    });
    const kept = clicks.map(({ bot }, index) => [visits[index]?.[0], bot]);
    expect(kept).toEqual(visits.map(([row, , , bot]) => [row, bot]));
    expect(clicks.filter(({ bot, prefetch, method }) => isHuman(bot, prefetch, method))).toHaveLength(1);
  });

  it("D6, D8: answers a HEAD as a GET, with one length, and counts it as no person's", async () => {
    await using journal = await openJournal(world().postgres.url);
    const clicks = await withEdge({ journal }, async ({ port }) => {
      const head = "HEAD /plain HTTP/1.1\r\nHost: go.example.com\r\nConnection: close\r\n\r\n";
      const answer = await sendRaw(port, head);
      expect(answer).toMatch(/^HTTP\/1\.1 302/);
      expect(answer.match(/content-length/gi)).toHaveLength(1);
    });
    expect(clicks).toMatchObject([{ method: "HEAD" }]);
    expect(clicks.some(({ bot, prefetch, method }) => isHuman(bot, prefetch, method))).toBe(false);
  });

  it("tells what is fetched ahead by any of its headers", async () => {
    await using journal = await openJournal(world().postgres.url);
    const ahead = [
      { "sec-purpose": "prefetch" },
      { "sec-purpose": "prefetch;prerender" },
      { purpose: "prefetch" },
      { "x-purpose": "preview" },
      { "x-moz": "prefetch" },
    ];
    const clicks = await withEdge({ journal }, async ({ port }) => {
      for (const how of ahead) await visit(port, "/plain", { headers: { ...person, ...how } });
    });
    expect(clicks.map(({ prefetch }) => prefetch)).toEqual(ahead.map(() => true));
  });

  it("D1: counts each opening, because a browser asks again", async () => {
    await using journal = await openJournal(world().postgres.url);
    const clicks = await withEdge({ journal }, async ({ port }) => {
      for (let times = 0; times < 2; times += 1) {
        const { headers } = await visit(port, "/plain", { headers: person });
        expect(headers["cache-control"]).toBe("private, no-store");
      }
    });
    expect(new Set(clicks.map(({ visitor }) => visitor)).size).toBe(1);
    expect(clicks).toHaveLength(2);
  });

  it("C3, C4, C9: sees visitors and not the proxy, over IPv4 and IPv6, however the proxy writes them", async () => {
    await using journal = await openJournal(world().postgres.url);
    const written = [
      "198.51.100.7",
      "198.51.100.7:4711",
      "::ffff:198.51.100.7",
      "2001:db8::7",
      "[2001:DB8::7]:443",
    ];
    const clicks = await withEdge({ journal }, async ({ port }) => {
      for (const address of written) {
        await visit(port, "/plain", { headers: { ...person, "x-forwarded-for": `10.9.9.9, ${address}` } });
      }
    });
    expect(clicks.map(({ country }) => country)).toEqual(["DE", "DE", "DE", "FR", "FR"]);
    expect(new Set(clicks.map(({ visitor }) => visitor)).size).toBe(2);
  });

  it("C14: gives no country to an address of a private network, and counts it as such", async () => {
    await using journal = await openJournal(world().postgres.url);
    await using edge = await journal.start();
    await visit(edge.port, "/plain", { headers: { ...person, "x-forwarded-for": "198.51.100.7" } });
    expect(await metric(edge, 'edge_visitors_total{address="private"}')).toBe(1);
    edge.kill("SIGTERM");
    await edge.exited;
    expect((await journal.read()).clicks).toMatchObject([{ country: "" }]);
  });

  it("C17: sees visitors by a new database as soon as it is there, also those it knows", async () => {
    await using journal = await openJournal(world().postgres.url);
    const clicks = await withEdge({ journal }, async (edge) => {
      const { port } = edge;
      await visit(port, "/plain", { headers: person });
      const moved = makeDatabase({ "198.51.100.0/24": { country_code: "CH" } });
      await writeFile(join(journal.dir, "../places.mmdb"), moved);
      const used = 'edge_geo_files_total{database="GEO_DB_PATH",outcome="used"}';
      await until("the new file is used", async () => (await metric(edge, used)) === 1);
      await visit(port, "/plain", { headers: person });
    });
    expect(clicks.map(({ country }) => country)).toEqual(["DE", "CH"]);
  }, 30_000);

  it.each(["sec-gpc", "dnt"])("honours %s: 1, unless told otherwise", async (signal) => {
    await using journal = await openJournal(world().postgres.url);
    const headers = { ...person, [signal]: "1", referer: "https://news.example.org/" };
    const ask = async ({ port }: { port: number }) =>
      void (await visit(port, "/plain?gclid=a&utm_source=b", { headers }));
    const said = { gpc: true, country: "DE", asn: 3_320, utm: { source: "b" }, language: "de" };
    expect(await withEdge({ journal }, ask)).toMatchObject([
      { ...said, visitor: "", city: "", referrer_domain: "", click_ids: {} },
    ]);
    expect(await withEdge({ journal, env: { PRIVACY_SIGNALS: "ignore" } }, ask)).toMatchObject([
      { ...said, city: "Kassel", referrer_domain: "news.example.org", click_ids: { gclid: "a" } },
    ]);
  });

  it("tells a visitor as one at every edge of one Postgres", async () => {
    await using one = await openJournal(world().postgres.url);
    await using other = await openJournal(world().postgres.url);
    const [first] = await withEdge({ journal: one }, askAsPerson);
    const [second] = await withEdge({ journal: other }, askAsPerson);
    expect(first?.visitor).toMatch(/^[0-9a-f]{32}$/);
    expect(second?.visitor).toBe(first?.visitor);
  });
});
