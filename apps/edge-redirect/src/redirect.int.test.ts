import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { sendRaw, visit } from "./testing/http.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

/** A GET on a connection of its own; `headers` instead of the usual Host. */
function getRaw(target: string, ...headers: string[]): string {
  const lines = headers.length === 0 ? ["Host: go.example.com"] : headers;
  return [`GET ${target} HTTP/1.1`, ...lines, "Connection: close", "", ""].join("\r\n");
}

describeWith("an edge", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    const { link, store, postgres } = world();
    await link("plain");
    await link("moved", { status: 301 });
    await link("kept", { status: 307 });
    await link("forever", { status: 308 });
    await link("🍞");
    await link("café");
    await link("T+B-lunch");
    await link("T&C_car");
    await link("store");
    await link("a.b_c~d");
    await link("long", { destination: `https://example.com/${"x".repeat(16_000)}` });
    await link("fragment", { destination: "https://google.com/?abc#123" });
    await link("app", { destination: "viber://pa?chatURI=1234" });
    await link("over", { expiresAt: Date.now() - 1000 });
    await link("off");
    await store.disable("go.example.com", "off");
    await store.ensureDomain("other.example.com", "other");
    await store.markVerified("other.example.com");
    await link("plain", { domain: "other.example.com", destination: "https://elsewhere.example.com/here" });
    journal = await openJournal(postgres.url);
    edge = await journal.start();
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  describe("redirects", () => {
    it.each([
      ["/plain", 302, "private, no-store"],
      ["/moved", 301, "private, max-age=30"],
      ["/kept", 307, "private, no-store"],
      ["/forever", 308, "private, max-age=30"],
    ])("%s with %i and %s", async (path, status, cacheControl) => {
      const answer = await visit(edge.port, path);
      expect(answer).toMatchObject({
        status,
        body: "",
        headers: { "cache-control": cacheControl, "content-length": "0" },
      });
      expect(answer.headers["location"]).toBe(`https://example.com${path}`);
    });

    it.each([
      ["A1", "/%F0%9F%8D%9E", "https://example.com/%F0%9F%8D%9E"],
      ["A17", "/caf%C3%A9", "https://example.com/caf%C3%A9"],
      ["A17", "/cafe%CC%81", "https://example.com/caf%C3%A9"],
      ["A5", "/T+B-lunch", "https://example.com/T+B-lunch"],
      ["A5", "/T&C_car", "https://example.com/T&C_car"],
      ["A7", "/store/", "https://example.com/store"],
      ["A9", "/a.b_c~d", "https://example.com/a.b_c~d"],
      ["B20", "/long", `https://example.com/${"x".repeat(16_000)}`],
      ["B10", "/fragment?x=y", "https://google.com/?abc#123"],
      ["B15", "/app", "viber://pa?chatURI=1234"],
    ])("%s: %s to the very destination", async (_, path, location) => {
      expect(await visit(edge.port, path)).toMatchObject({ status: 302, headers: { location } });
    });

    it("A20: the same slug of another domain to that domain's destination", async () => {
      const answer = await visit(edge.port, "/plain", { headers: { host: "OTHER.example.com:8080" } });
      expect(answer.headers["location"]).toBe("https://elsewhere.example.com/here");
    });

    it("D8: a HEAD like a GET, with the same headers and no body", async () => {
      const [get, head] = [
        await visit(edge.port, "/plain"),
        await visit(edge.port, "/plain", { method: "HEAD" }),
      ];
      const { date: _, ...headers } = head.headers;
      expect(get.headers).toMatchObject(headers);
      expect(head).toMatchObject({ status: 302, body: "" });
    });
  });

  describe("answers what is no link", () => {
    it.each([
      ["/nothing", 404],
      ["/over", 410],
      ["/off", 410],
      ["/", 200],
      ["/robots.txt", 200],
      ["/favicon.ico", 204],
      ["/Plain", 404],
      ["/plain/more", 404],
      ["/1&utm_source=soup", 404],
      ["/wp-admin.php", 404],
    ])("%s with %i, also to a HEAD", async (path, status) => {
      const get = await visit(edge.port, path);
      const head = await visit(edge.port, path, { method: "HEAD" });
      expect([get.status, head.status, head.body]).toEqual([status, status, ""]);
      expect(get.headers["location"]).toBeUndefined();
    });

    it("another host's link with 404", async () => {
      expect(await visit(edge.port, "/plain", { headers: { host: "unknown.example.com" } })).toMatchObject({
        status: 404,
      });
    });

    it.each(["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])(
      "%s with 405, and does not read on",
      async (method) => {
        const answer = await visit(edge.port, "/plain", { method });
        expect(answer).toMatchObject({ status: 405, headers: { allow: "GET, HEAD", connection: "close" } });
      },
    );
  });

  describe("takes no malformed request for a link, and lives on", () => {
    it.each([
      ["A3", getRaw("/!%C3%A4%C3%B6%C3%BC"), 404],
      ["A13", getRaw("/%C0%80"), 404],
      ["A14", getRaw("/mark%"), 404],
      ["A14", getRaw("/foo%zz"), 404],
      ["A15", getRaw("/%80"), 404],
      ["A18", getRaw("/a b"), 400],
      ["A18", getRaw("/\u00ff\u00fe"), 400],
      ["A19", getRaw("/%00"), 404],
      ["A19", getRaw("/x%0d%0ay"), 404],
      ["A19", getRaw("/a%2Fb"), 404],
      ["A23", getRaw("//"), 404],
      ["A26", getRaw("/plain", "Host: go.example.com", "Host: evil.com"), 400],
      ["A26", getRaw("/plain", "Host: go.example.com", "host: go.example.com"), 400],
      ["A26", getRaw("http://evil.com/plain"), 400],
      ["A26", getRaw("http://go.example.com/plain"), 302],
      ["", getRaw("/plain", "Host:"), 400],
      ["", getRaw("/plain", "X: y"), 400],
      ["", "GET /plain HTTP/1.0\r\n\r\n", 400],
      ["B27", getRaw("//github.com/"), 404],
      ["B29", getRaw("/\\evil.com"), 404],
      ["B29", getRaw("/https://target-malicious-link/?param=abc"), 404],
      [
        "F3",
        getRaw("/plain", "Host: go.example.com", `Referer: https://example.com/${"r".repeat(17_000)}`),
        431,
      ],
      ["", getRaw(`/${"s".repeat(17_000)}`), 431],
      ["", "nonsense\r\n\r\n", 400],
      [
        "",
        "GET /plain HTTP/1.1\r\nHost: go.example.com\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        400,
      ],
      ["", getRaw("*"), 400],
    ])("%s %j with %i", async (_, bytes, status) => {
      const answer = await sendRaw(edge.port, Buffer.from(bytes, "latin1"));
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(await visit(edge.port, "/plain")).toMatchObject({ status: 302 });
    });
  });

  it("answers what was asked before a malformed request on the same connection, in order", async () => {
    const good = "GET /plain HTTP/1.1\r\nHost: go.example.com\r\n\r\n";
    const answers = await sendRaw(edge.port, `${good}${good}GET / b HTTP/1.1\r\n\r\n`);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 302", "HTTP/1.1 302", "HTTP/1.1 400"]);
  });

  it("journals every redirect and nothing else", async () => {
    const before = (await journal.read()).clicks.length;
    expect(before).toBeGreaterThan(0);
    for (const path of ["/plain", "/nothing", "/over", "/robots.txt", "/%C0%80"])
      await visit(edge.port, path);
    await visit(edge.port, "/plain", { method: "POST" });
    await visit(edge.port, "/plain", { method: "HEAD" });
    const { clicks } = await journal.read();
    expect(clicks).toMatchObject([{ method: "GET", slug: "plain" }, { method: "HEAD" }]);
  });
});
