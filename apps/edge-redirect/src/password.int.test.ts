import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { type Answer, sendRaw, visit } from "./testing/http.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148";
const destination = "https://example.com/secret";

describeWith("a link with a password", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    const { link, postgres, store } = world();
    const password = "sésame & co";
    await link("locked", { destination, password });
    await link("kept", { destination, password, status: 307, passQuery: true, noindex: true });
    await link("phones", {
      destination,
      password,
      rules: [{ systems: ["ios"], destination: `${destination}/ios` }],
    });
    await link("off", { password });
    await store.disable("go.example.com", "off");
    await link("later", { password, startsAt: Date.now() + 3_600_000 });
    await link("plain");
    await link("planned", { passQuery: true });
    journal = await openJournal(postgres.url);
    edge = await journal.start();
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  /** Posts the form; each visitor from an address of their own, so that none has tried before. */
  let visitors = 0;
  function unlock(path: string, password: string, { from = "", agent = "" } = {}): Promise<Answer> {
    visitors += 1;
    return visit(edge.port, path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "user-agent": agent },
      body: new URLSearchParams({ password }).toString(),
      from: from || `127.0.1.${visitors}`,
    });
  }

  it("asks for it on a page that runs and loads nothing, and counts nobody", async () => {
    await journal.read();
    for (const method of ["GET", "HEAD"]) {
      const answer = await visit(edge.port, "/locked?a=b", { method });
      expect(answer).toMatchObject({
        status: 200,
        headers: {
          "content-type": "text/html; charset=utf-8",
          "cache-control": "private, no-store",
          "x-robots-tag": "noindex",
        },
      });
      expect(answer.headers["set-cookie"]).toBeUndefined();
      expect(answer.headers["content-security-policy"]).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; frame-ancestors 'none'$/,
      );
      expect(answer.body).not.toMatch(/<script|javascript:| on\w+=|secret/i);
      expect(answer.body).toContain(method === "GET" ? '<form method="post">' : "");
    }
    await unlock("/locked", "guess");
    expect((await journal.read()).clicks).toEqual([]);
  });

  it("opens with it, and only then is a click: a GET, to be followed by one", async () => {
    expect(await unlock("/locked", "sésame & co")).toMatchObject({
      status: 303,
      headers: { location: destination, "cache-control": "private, no-store" },
      body: "",
    });
    // In another spelling of the same letters, as another keyboard writes it.
    expect(await unlock("/locked", "se\u0301same & co")).toMatchObject({ status: 303 });
    expect((await journal.read()).clicks).toMatchObject([
      { slug: "locked", method: "GET", destination },
      { slug: "locked", method: "GET", destination },
    ]);
  });

  it("does not send the password on, whatever its status, and passes the query on", async () => {
    expect(await unlock("/kept?a=%20b", "sésame & co")).toMatchObject({
      status: 303,
      headers: { location: `${destination}?a=%20b`, "x-robots-tag": "noindex" },
    });
  });

  it("B34: chooses where to lead when it is unlocked", async () => {
    expect((await unlock("/phones", "sésame & co", { agent: iphone })).headers["location"]).toBe(
      `${destination}/ios`,
    );
    expect((await unlock("/phones", "sésame & co")).headers["location"]).toBe(destination);
  });

  it("stays shut with another one, and shows the form again", async () => {
    for (const password of ["", "sesame & co", "x".repeat(257)]) {
      const answer = await unlock("/locked", password);
      expect(answer).toMatchObject({ status: 401 });
      expect(answer.headers["location"]).toBeUndefined();
      expect(answer.body).toContain('<form method="post">');
    }
  });

  it("lets nobody guess, and others in", async () => {
    const from = "127.0.2.1";
    for (let guess = 1; guess <= 5; guess += 1) {
      expect(await unlock("/locked", `guess ${guess}`, { from })).toMatchObject({ status: 401 });
    }
    expect(await unlock("/locked", "sésame & co", { from })).toMatchObject({
      status: 429,
      headers: { "retry-after": "60" },
    });
    expect(await unlock("/locked", "sésame & co", { from: "127.0.2.2" })).toMatchObject({ status: 303 });
  });

  it.each([
    ["/off", 410],
    ["/later", 405],
    ["/nothing", 405],
    ["/plain", 405],
    ["/planned", 405],
    ["/", 405],
    ["/a%2Fb", 405],
  ])("is all that takes a form: %s with %i", async (path, status) => {
    expect(await unlock(path, "sésame & co")).toMatchObject({ status, headers: { connection: "close" } });
  });

  describe("takes no more than a form", () => {
    const head = "POST /locked HTTP/1.1\r\nHost: go.example.com\r\n";
    const form = `${head}Content-Type: application/x-www-form-urlencoded\r\n`;
    it.each([
      ["JSON", `${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`, 415],
      ["no type", `${head}Content-Length: 0\r\n\r\n`, 415],
      ["more than 4 KB by its length", `${form}Content-Length: 4097\r\n\r\n`, 413],
      [
        "more than 4 KB in chunks",
        `${form}Transfer-Encoding: chunked\r\n\r\n1001\r\n${"x".repeat(4097)}\r\n0\r\n\r\n`,
        413,
      ],
    ])("%s", async (_, bytes, status) => {
      expect(await sendRaw(edge.port, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    });
  });
});
