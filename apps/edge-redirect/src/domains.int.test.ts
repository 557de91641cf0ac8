import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { type Answer, sendRaw, visit } from "./testing/http.ts";
import { metric } from "./testing/ops.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const home = "https://www.example.com/";
const lost = "https://www.example.com/not-found?from=short#top";

async function ask({ opsPort }: EdgeProcess, query: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${opsPort}/domains/ask${query}`)).status;
}

describeWith("a domain", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    const { link, postgres, store } = world();
    for (const domain of ["set.example.com", "folded.example.com", "xn--tbingen-n2a.example.com"]) {
      await store.ensureDomain(domain, "test");
      await store.markVerified(domain);
    }
    await store.updateDomain("set.example.com", { homeUrl: home, notFoundUrl: lost });
    await store.updateDomain("folded.example.com", { caseMode: "insensitive" });
    await store.ensureDomain("unverified.example.com", "test");
    await store.updateDomain("unverified.example.com", { homeUrl: home, notFoundUrl: lost });
    for (const domain of ["set.example.com", "unverified.example.com", "xn--tbingen-n2a.example.com"]) {
      await link("there", { domain });
    }
    await link("later", { domain: "set.example.com", startsAt: Date.now() + 3_600_000 });
    await link("over", { domain: "set.example.com", expiresAt: Date.now() - 1_000 });
    await link("Straße", { domain: "folded.example.com", destination: "https://example.com/folded" });
    await link("Exact");
    journal = await openJournal(postgres.url);
    edge = await journal.start();
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  const open = (host: string, path: string, method = "GET"): Promise<Answer> =>
    visit(edge.port, path, { method, headers: { host } });

  it("sends those who ask for no link to its home", async () => {
    for (const method of ["GET", "HEAD"]) {
      expect(await open("set.example.com", "/", method)).toMatchObject({
        status: 302,
        headers: { location: home, "cache-control": "private, no-store" },
      });
    }
    expect(await open("set.example.com", "/?redir_url=https://evil.com")).toMatchObject({
      headers: { location: home },
    });
    expect(await open("go.example.com", "/")).toMatchObject({ status: 200 });
    expect(await open("set.example.com", "/robots.txt")).toMatchObject({ status: 200 });
  });

  describe("sends those who ask for an unknown link to one place, whatever they ask for", () => {
    it.each([
      ["", "/nothing"],
      ["", "/nothing?a=b"],
      ["", "/later"],
      ["A3", "/!%C3%A4%C3%B6%C3%BC"],
      ["A13", "/%C0%80"],
      ["A14", "/mark%"],
      ["A15", "/%80"],
      ["A19", "/%00"],
      ["A19", "/x%0d%0ay"],
      ["A24", "/wp-admin.php"],
      ["A24", "/wordpress/plugins/x"],
      ["B13", "/1&utm_source=soup"],
      ["B26", "//evil.com/"],
      ["B27", "///github.com/"],
      ["B29", "/\\evil.com"],
      ["B29", "/https://target-malicious-link/?param=abc"],
      ["B30", "/nothing?redir_url=https://evil.com"],
    ])("%s %s", async (_, path) => {
      const answer = await sendRaw(
        edge.port,
        `GET ${path} HTTP/1.1\r\nHost: set.example.com\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 302 /);
      expect(answer.match(/^location: (.*)\r$/im)?.[1]).toBe(lost);
    });

    it("and counts none of them", async () => {
      await journal.read();
      await open("set.example.com", "/nothing");
      await open("set.example.com", "/");
      expect((await journal.read()).clicks).toEqual([]);
    });

    it("but not those whose link is over", async () => {
      expect(await open("set.example.com", "/over")).toMatchObject({ status: 410 });
    });
  });

  it("that does not tell cases apart takes any, and the others only their own", async () => {
    const folded = { status: 302, headers: { location: "https://example.com/folded" } };
    for (const slug of ["Stra%C3%9Fe", "STRA%C3%9FE", "stra%C3%9Fe"]) {
      expect(await open("folded.example.com", `/${slug}`)).toMatchObject(folded);
    }
    expect(await open("go.example.com", "/Exact")).toMatchObject({ status: 302 });
    expect(await open("go.example.com", "/exact")).toMatchObject({ status: 404 });
  });

  it("that does not tell cases apart has each link in memory once", async () => {
    const hits = 'link_requests_total{answer="hit"}';
    await open("folded.example.com", "/stra%C3%9Fe");
    const before = await metric(edge, hits);
    for (const slug of ["Stra%C3%9Fe", "STRA%C3%9FE"]) await open("folded.example.com", `/${slug}`);
    expect((await metric(edge, hits)) - before).toBe(2);
  });

  it("A22: is the same in Unicode and in punycode", async () => {
    expect(await open("xn--tbingen-n2a.example.com", "/there")).toMatchObject({ status: 302 });
  });

  it("that is not verified is answered as a host that nobody knows", async () => {
    for (const path of ["/there", "/nothing"]) {
      const [unverified, unknown] = [
        await open("unverified.example.com", path),
        await open("x.example.com", path),
      ];
      expect(unverified).toMatchObject({ status: 404, body: unknown.body });
      expect(unverified.headers["location"]).toBeUndefined();
    }
    expect(await open("unverified.example.com", "/")).toMatchObject({ status: 200 });
  });

  it("that is edited is as it was for a second at most", async () => {
    const { store } = world();
    expect(await open("folded.example.com", "/")).toMatchObject({ status: 200 });
    await store.updateDomain("folded.example.com", { homeUrl: home });
    const isHome = async () => (await open("folded.example.com", "/")).headers["location"];
    await expect.poll(isHome, { timeout: 1_000, interval: 20 }).toBe(home);
    expect(await open("late.example.com", "/")).toMatchObject({ status: 200 });
    await store.ensureDomain("late.example.com", "test");
    await store.updateDomain("late.example.com", { homeUrl: home });
    await store.markVerified("late.example.com");
    await expect
      .poll(async () => (await open("late.example.com", "/")).status, { timeout: 1_000, interval: 20 })
      .toBe(302);
  });

  it("gets a certificate on demand only when it is verified", async () => {
    expect(await ask(edge, "?domain=set.example.com")).toBe(200);
    expect(await ask(edge, "?domain=SET.example.com.")).toBe(200);
    expect(await ask(edge, "?domain=unverified.example.com")).toBe(404);
    expect(await ask(edge, "?domain=nobody.example.com")).toBe(404);
    expect(await ask(edge, "?domain=a%20b")).toBe(404);
    expect(await ask(edge, "")).toBe(404);
    // Not for visitors.
    expect(await open("set.example.com", "/domains/ask?domain=set.example.com")).toMatchObject({
      status: 302,
    });
  });
});
