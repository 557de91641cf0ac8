import { Agent } from "node:http";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { sendRaw, visit } from "./testing/http.ts";
import { metric } from "./testing/ops.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const host = "Host: go.example.com";

/** Lines of a request, each ended by CR and LF, and the empty one after them. */
function lines(...all: string[]): string {
  return [...all, "", ""].join("\r\n");
}

const get = (path: string, ...headers: string[]): string => lines(`GET ${path} HTTP/1.1`, host, ...headers);
const old = (slug: string, ...headers: string[]) => lines(`GET /${slug} HTTP/1.0`, host, ...headers);
const last = get("/last", "Connection: close");

/** What a front server and we could read as different requests; none may be answered as a second one. */
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: go.example.com\r\n\r\n";

describeWith("an edge under attack", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    for (const slug of ["one", "two", "three", "last", "smuggled"]) await world().link(slug);
    journal = await openJournal(world().postgres.url);
    edge = await journal.start();
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  /** The statuses of all answers to these bytes, in order, and the slugs journaled for them. */
  async function send(bytes: string): Promise<{ statuses: number[]; slugs: string[] }> {
    await journal.read();
    const answer = await sendRaw(edge.port, Buffer.from(bytes, "latin1"));
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));
    const { clicks } = await journal.read();
    return { statuses, slugs: clicks.map(({ slug }) => slug) };
  }
  const counted = (reason: string) => metric(edge, `http_client_errors_total{reason="${reason}"}`);

  describe("answers pipelined requests", () => {
    it("in order, and journals each once", async () => {
      const asked = ["one", "two", "three"].flatMap((slug) => Array.from({ length: 20 }, () => slug));
      const all = [...asked, "last"];
      const bytes = asked.map((slug) => get(`/${slug}`)).join("") + last;
      const first = await send(bytes);
      expect(first.statuses).toEqual(all.map(() => 302));
      expect(first.slugs.toSorted()).toEqual(all.toSorted());
      // Now that the links are in memory.
      expect(await send(bytes)).toEqual({ statuses: all.map(() => 302), slugs: all });
    });

    it("up to a hundred that wait for one another, and then ends the connection: memory is bounded", async () => {
      const { statuses, slugs } = await send(get("/one").repeat(3_000));
      expect(statuses).toEqual(Array.from({ length: 101 }, () => 302));
      expect(slugs).toHaveLength(101);
      // One after the other there may be any number.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let visits = 0; visits < 300; visits += 1) {
        expect((await visit(edge.port, "/one", { agent })).headers["connection"]).toBe("keep-alive");
      }
      agent.destroy();
    });

    it("in order also where the first has to be asked for and the others are in memory", async () => {
      const answer = await sendRaw(edge.port, get("/never-seen") + get("/one") + get("/") + last);
      expect(answer.match(/^HTTP\/1\.1 \d+/gm)).toEqual(
        [404, 302, 200, 302].map((each) => `HTTP/1.1 ${each}`),
      );
    });
  });

  describe("reads one request where others read two", () => {
    it.each([
      [
        "Content-Length and Transfer-Encoding",
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        "0\r\n\r\n",
      ],
      ["two lengths", ["Content-Length: 0", "Content-Length: 57"], ""],
      ["a length with a sign", ["Content-Length: +57"], ""],
      ["a length that is none", ["Content-Length: 5 7"], ""],
      ["an unknown encoding", ["Transfer-Encoding: xchunked"], "0\r\n\r\n"],
      ["chunked that is not last", ["Transfer-Encoding: chunked, identity"], "0\r\n\r\n"],
      ["a tab before the encoding's name ends", ["Transfer-Encoding\t: chunked"], "0\r\n\r\n"],
      ["a space before the colon", ["Content-Length : 57"], ""],
      ["a folded header", ["X: a", " Transfer-Encoding: chunked"], "0\r\n\r\n"],
      ["a CR in a value", ["X: a\rTransfer-Encoding: chunked"], "0\r\n\r\n"],
      ["an LF that ends a line", ["X: a\nTransfer-Encoding: chunked"], "0\r\n\r\n"],
      ["a NUL in a value", ["X: a\0b"], ""],
      ["a NUL in a name", ["X\0: a"], ""],
    ])("%s: 400, and nothing behind it is read", async (_, headers, body) => {
      expect(await send(get("/one", ...headers) + body + smuggled)).toEqual({ statuses: [400], slugs: [] });
    });

    it.each([
      ["a length", [`Content-Length: ${smuggled.length}`], smuggled],
      [
        "chunks",
        ["Transfer-Encoding: chunked"],
        `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
      ],
      ["chunks with extensions", ["Transfer-Encoding: chunked"], `1;a="\r\nb";c\r\nx\r\n0\r\n\r\n`],
      ["chunks with trailers", ["Transfer-Encoding: chunked"], `0\r\nHost: evil.com\r\n\r\n`],
      ["a length of nothing", ["Content-Length: 0"], ""],
    ])("a body by %s: redirects, and closes the connection unread", async (_, headers, body) => {
      expect(await send(get("/one", ...headers) + body + smuggled)).toEqual({
        statuses: [302],
        slugs: ["one"],
      });
    });
  });

  describe("is clear about", () => {
    it("A26: a second Host, though it hides behind three thousand other headers", async () => {
      const others = Array.from({ length: 3_000 }, () => "a:");
      expect(await send(get("/one", ...others, "Host: evil.com", "Connection: close"))).toEqual({
        statuses: [400],
        slugs: [],
      });
    });

    it("HTTP/1.0: one request a connection, or more when asked", async () => {
      expect(await send(old("one") + old("two"))).toEqual({ statuses: [302], slugs: ["one"] });
      const kept = old("one", "Connection: keep-alive") + old("two");
      expect(await send(kept)).toEqual({ statuses: [302, 302], slugs: ["one", "two"] });
    });

    it.each(["HTTP/1.2", "HTTP/11", "http/1.1", "HTCPCP/1.0"])(
      "a version that it does not speak: %s",
      async (version) => {
        expect(await send(lines(`GET /one ${version}`, host, "Connection: close"))).toEqual({
          statuses: [400],
          slugs: [],
        });
      },
    );

    it("HTTP/2 that was not asked for, and a TLS hello", async () => {
      for (const bytes of ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"])
        expect(await send(bytes)).toEqual({ statuses: [400], slugs: [] });
    });

    it("an upgrade: the link, over HTTP/1.1", async () => {
      const upgrade = [
        "Connection: Upgrade, HTTP2-Settings, close",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAAQ",
      ];
      expect(await send(get("/one", ...upgrade))).toEqual({ statuses: [302], slugs: ["one"] });
      const websocket = ["Connection: Upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
      expect(await send(get("/two", ...websocket))).toEqual({ statuses: [302], slugs: ["two"] });
    });

    it("CONNECT: it is no proxy", async () => {
      const before = await metric(edge, 'http_other_answers_total{outcome="method_not_allowed"}');
      expect(await send(lines("CONNECT go.example.com:443 HTTP/1.1", host))).toEqual({
        statuses: [405],
        slugs: [],
      });
      expect(await metric(edge, 'http_other_answers_total{outcome="method_not_allowed"}')).toBe(
        (before || 0) + 1,
      );
    });

    it("Expect: 100-continue: the answer at once, and no body is asked for", async () => {
      const expects = ["Expect: 100-continue", "Content-Length: 5"];
      expect(await send(get("/one", ...expects))).toEqual({ statuses: [302], slugs: ["one"] });
      expect(await send(lines("POST /one HTTP/1.1", host, ...expects))).toEqual({
        statuses: [405],
        slugs: [],
      });
      expect(await send(get("/one", "Expect: the unexpected", "Connection: close"))).toMatchObject({
        statuses: [302],
      });
    });

    it("F3: headers of 20 KiB, in one and in many, with 431, counted", async () => {
      const before = await counted("headers_too_large");
      for (const headers of [
        [`Referer: https://a/${"r".repeat(20_480)}`],
        Array.from({ length: 2_000 }, () => "x: 123456789"),
      ])
        expect(await send(get("/one", ...headers))).toEqual({ statuses: [431], slugs: [] });
      expect(await counted("headers_too_large")).toBe((before || 0) + 2);
    });

    it("F2: a referrer as long as headers may be: redirected, and only its host is kept", async () => {
      const referer = `Referer: https://news.example.com/${"r".repeat(15_000)}`;
      await journal.read();
      expect(await sendRaw(edge.port, get("/one", referer, "Connection: close"))).toContain("302 Found");
      const { clicks } = await journal.read();
      expect(clicks).toMatchObject([{ referrer_domain: "news.example.com" }]);
    });

    it("a URL as long as headers may be, and one that is longer", async () => {
      expect(await send(get(`/${"s".repeat(15_000)}`, "Connection: close"))).toMatchObject({
        statuses: [404],
      });
      expect(await send(get(`/one?q=${"q".repeat(15_000)}`, "Connection: close"))).toEqual({
        statuses: [302],
        slugs: ["one"],
      });
      expect(await send(get(`/${"s".repeat(70_000)}`))).toMatchObject({ statuses: [431] });
    });

    it("A18, A19: what Node refuses, counted, and bytes that no link has", async () => {
      const before = await counted("malformed");
      for (const path of ["/a b", "/\u00ff", "/\0", "/\x7f", "/\t"])
        expect(await send(get(path, "Connection: close"))).toEqual({ statuses: [400], slugs: [] });
      expect(await counted("malformed")).toBe(before + 5);
      for (const path of ["/%00", "/one%00", "/x%0d%0ay", "/a%2Fb", "/one%2f", "/%2e%2e/one"])
        expect(await send(get(path, "Connection: close"))).toEqual({ statuses: [404], slugs: [] });
    });
  });

  it("stops reading with the answer that ends a connection: no click is counted that gets none", async () => {
    const post = lines("POST /one HTTP/1.1", host, "Content-Length: 0");
    expect(await send(post + get("/two") + get("/three"))).toEqual({ statuses: [405], slugs: [] });
    const closing = get("/one", "Connection: close");
    expect(await send(closing + get("/two"))).toEqual({ statuses: [302], slugs: ["one"] });
    expect(await send(get("/never-seen-either", "Connection: close") + get("/two"))).toEqual({
      statuses: [404],
      slugs: [],
    });
  });

  it("serves visitors all the while, and has logged no error", async () => {
    expect(await visit(edge.port, "/one")).toMatchObject({ status: 302 });
    expect(edge.output()).not.toMatch(/"level":"?(?:50|error)/);
  });
});
