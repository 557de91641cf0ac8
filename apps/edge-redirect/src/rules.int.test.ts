import type { NewLink } from "@sluice/link-store/link-store.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { type Answer, visit } from "./testing/http.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0";
const android = `Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`;
const desktop = `Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`;
const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

const us = "8.8.8.8";
const ireland = "2a00:1450:4001:c02::8a";

const everyone = { destination: "https://example.com/everyone" };
const to = (name: string): string => `https://example.com/${name}`;

const links: Readonly<Record<string, Partial<NewLink>>> = {
  country: { ...everyone, rules: [{ countries: ["US"], destination: to("us") }] },
  five: {
    ...everyone,
    rules: [
      { regions: ["DE-BY"], destination: to("by") },
      { countries: ["IE"], devices: ["desktop"], destination: to("ie") },
      { systems: ["ios", "android"], destination: to("phone") },
      { languages: ["pt-br"], destination: to("br") },
      { times: { zone: "UTC", from: "00:00", to: "00:00" }, languages: ["de"], destination: to("de") },
    ],
  },
  moved: { ...everyone, status: 301, rules: [{ systems: ["ios"], destination: to("ios") }] },
  split: {
    ...everyone,
    variants: [
      { destination: to("a"), weight: 1 },
      { destination: to("b"), weight: 1 },
    ],
  },
  app: { destination: to("web"), apps: { ios: "fb://profile/1?a=%22&b", android: "fb://profile/1" } },
  claimed: { destination: to("web"), apps: { ios: to("claimed"), android: to("claimed") }, passQuery: true },
  pass: { destination: "https://example.com/bad%20space/?q=%23x&e=#Tab0-9", passQuery: true },
  tags: { destination: "https://example.com/?utm_source=own", utm: { source: "x", medium: "e mail" } },
  both: { ...everyone, utm: { source: "x" }, rules: [{ countries: ["US"], destination: to("us#top") }] },
  tracked: { destination: "https://example.com/?a#b", trackConversions: true, noindex: true },
  hidden: { ...everyone, noindex: true },
  later: { ...everyone, startsAt: Date.now() + 3_600_000 },
  started: { ...everyone, startsAt: Date.now() - 1 },
  mail: { destination: "mailto:user@example.com", passQuery: true },
};

async function locationOf(answer: Promise<Answer>) {
  return (await answer).headers["location"];
}

describeWith("a link with options", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    const { link, postgres } = world();
    for (const [slug, parts] of Object.entries(links)) await link(slug, parts);
    journal = await openJournal(postgres.url);
    edge = await journal.start({ env: { TRUSTED_PROXIES: "127.0.0.0/8" } });
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  interface Visitor {
    readonly from?: string;
    readonly agent?: string;
    readonly language?: string;
    readonly method?: string;
  }
  function open(path: string, { from = us, agent = desktop, language = "en", method = "GET" }: Visitor = {}) {
    const headers = { "user-agent": agent, "x-forwarded-for": from, "accept-language": language };
    return visit(edge.port, path, { method, headers });
  }

  describe("sends by its rules, the first that fits", () => {
    it.each<[string, Visitor, string]>([
      ["/country", { from: us }, "us"],
      ["/country", { from: "127.0.0.1" }, "everyone"],
      ["/five", { from: ireland }, "ie"],
      ["/five", { from: ireland, agent: android }, "phone"],
      ["/five", { agent: iphone, language: "pt-BR" }, "phone"],
      ["/five", { language: "pt-BR,pt;q=0.9" }, "br"],
      ["/five", { language: "pt,pt-BR;q=0.9" }, "everyone"],
      ["/five", { language: "de-AT" }, "de"],
      ["/five", {}, "everyone"],
    ])("%s with %j to %s", async (path, visitor, name) => {
      expect(await locationOf(open(path, visitor))).toBe(to(name));
    });

    it("C8: an IPv6 visitor like any other: what is not known of them does not fit", async () => {
      for (const from of [ireland, "::1", "2001:db8::1"]) {
        expect(await open("/country", { from })).toMatchObject({
          status: 302,
          headers: { location: to("everyone") },
        });
        expect(await open("/country", { from, method: "HEAD" })).toMatchObject({ status: 302 });
      }
    });

    it("D16: bots and link previews like people", async () => {
      for (const agent of ["Twitterbot/1.0", "facebookexternalhit/1.1", ""]) {
        expect(await locationOf(open("/country", { agent }))).toBe(to("us"));
      }
    });

    it("with its status, and D1: no browser keeps it for long", async () => {
      expect(await open("/moved", { agent: iphone })).toMatchObject({
        status: 301,
        headers: { location: to("ios"), "cache-control": "private, max-age=30" },
      });
    });
  });

  it("splits its visitors, each to the same place each time, also after a restart", async () => {
    const visitors = Array.from({ length: 40 }, (_, index) => ({ from: `198.51.100.${index}` }));
    const places = () => Promise.all(visitors.map((visitor) => locationOf(open("/split", visitor))));
    const first = await places();
    expect(new Set(first)).toEqual(new Set([to("a"), to("b")]));
    expect(await places()).toEqual(first);
    await edge[Symbol.asyncDispose]();
    edge = await journal.start({ env: { TRUSTED_PROXIES: "127.0.0.0/8" } });
    expect(await places()).toEqual(first);
  });

  describe("opens an app", () => {
    it("on Android by an intent that falls back to the web", async () => {
      const answer = await open("/app", { agent: android });
      expect(answer).toMatchObject({ status: 302 });
      expect(answer.headers["location"]).toBe(
        `intent://profile/1#Intent;scheme=fb;S.browser_fallback_url=${encodeURIComponent(to("web"))};end`,
      );
    });

    it("on iOS by a page with a link to each, without a script", async () => {
      const answer = await open("/app", { agent: iphone });
      expect(answer.status).toBe(200);
      expect(answer.body).toContain('href="fb://profile/1?a=%22&amp;b"');
      expect(answer.body).toContain(`href="${to("web")}"`);
      expect(answer.body).not.toMatch(/<script|javascript:|onload/i);
      expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
    });

    it("by a URL that the app has claimed, and nowhere else", async () => {
      expect(await locationOf(open("/claimed?a=b", { agent: iphone }))).toBe(`${to("claimed")}?a=b`);
      expect(await locationOf(open("/claimed", { agent: android }))).toBe(to("claimed"));
      expect(await locationOf(open("/claimed"))).toBe(to("web"));
      expect(await locationOf(open("/app"))).toBe(to("web"));
      expect(await locationOf(open("/app", { agent: `${android} [FB_IAB/FB4A]` }))).toBe(to("web"));
    });
  });

  describe("adds to its destination, and changes nothing in it", () => {
    it.each([
      ["B3, B5, B6: /pass", "", "https://example.com/bad%20space/?q=%23x&e=#Tab0-9"],
      ["B10, B11: /pass", "?123=foo&456", "https://example.com/bad%20space/?q=%23x&e=&123=foo&456#Tab0-9"],
      [
        "B13, B19: /pass",
        "?a=%22%f0%9F+1&a=&a",
        "https://example.com/bad%20space/?q=%23x&e=&a=%22%f0%9F+1&a=&a#Tab0-9",
      ],
      [
        "the mark of a QR code left out: /pass",
        "?qr=1&x",
        "https://example.com/bad%20space/?q=%23x&e=&x#Tab0-9",
      ],
      [
        "B30: /pass",
        "?redir_url=https://evil.com",
        "https://example.com/bad%20space/?q=%23x&e=&redir_url=https://evil.com#Tab0-9",
      ],
      [
        "no header of its own: /pass",
        "?a=%0d%0aX-Injected:1",
        "https://example.com/bad%20space/?q=%23x&e=&a=%0d%0aX-Injected:1#Tab0-9",
      ],
      [
        "B30: /tags",
        "?redir_url=https://evil.com",
        "https://example.com/?utm_source=own&utm_medium=e%20mail",
      ],
      ["where a rule leads, too: /both", "", `${to("us")}?utm_source=x#top`],
      ["B17: /mail", "?subject=x", "mailto:user@example.com"],
    ])("%s%s", async (name, query, location) => {
      expect(await locationOf(open(`${name.slice(name.indexOf("/"))}${query}`))).toBe(location);
    });

    it("the click's own id, to be named by a conversion, and asks search engines to keep out", async () => {
      await journal.read();
      const answer = await open("/tracked");
      const { clicks } = await journal.read();
      expect(answer.headers).toMatchObject({
        location: `https://example.com/?a&sluice_id=${clicks[0]?.event_id}#b`,
        "x-robots-tag": "noindex",
      });
      expect(clicks).toHaveLength(1);
      expect((await open("/hidden")).headers["x-robots-tag"]).toBe("noindex");
    });
  });

  it("is not there before its time, and is from then on", async () => {
    const [later, unknown] = [await open("/later"), await open("/nothing")];
    expect({ ...later, headers: { ...later.headers, date: "" } }).toEqual({
      ...unknown,
      headers: { ...unknown.headers, date: "" },
    });
    expect(later.status).toBe(404);
    expect(await locationOf(open("/started"))).toBe(to("everyone"));
  });

  it("is recorded with where it has led, and by which variant; what the visitor added is not kept", async () => {
    await journal.read();
    const split = await locationOf(open("/split"));
    await open("/pass?email=somebody@example.com");
    await open("/app", { agent: android });
    await open("/five", { agent: android });
    const { clicks } = await journal.read();
    expect(clicks.map(({ destination, variant, status }) => ({ destination, variant, status }))).toEqual([
      { destination: split, variant: split === to("a") ? 1 : 2, status: 302 },
      { destination: links["pass"]?.destination, variant: 0, status: 302 },
      { destination: "fb://profile/1", variant: 0, status: 302 },
      { destination: to("phone"), variant: 0, status: 302 },
    ]);
  });
});
