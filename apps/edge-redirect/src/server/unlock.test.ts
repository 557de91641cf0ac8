import { IncomingMessage } from "node:http";
import { Socket } from "node:net";

import { describe, expect, it } from "vitest";

import { createUnlock, type Unlocking } from "./unlock.ts";

const link = { id: 1, passwordHash: "the hash of secret" };
const form = "application/x-www-form-urlencoded";

function post(body: string, headers: Record<string, string> = { "content-type": form }): IncomingMessage {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: "POST", headers });
  request.push(Buffer.from(body));
  request.push(null);
  return request;
}

function open(isPassword = async (password: string) => password === "sec&ret é") {
  let now = 0;
  const unlock = createUnlock({ isPassword, now: () => now });
  return {
    unlock,
    try: (password: string, { id = 1, address = "192.0.2.1" } = {}): Promise<Unlocking> =>
      unlock(post(`password=${encodeURIComponent(password)}`), { ...link, id }, address),
    wait: (ms: number) => (now += ms),
  };
}

describe("a link with a password", () => {
  it("is opened by it alone", async () => {
    const trial = open();
    expect(await trial.try("sec&ret é")).toBe("open");
    expect(await trial.try("secret")).toBe("wrong");
    expect(await trial.unlock(post("pass=sec%26ret"), link, "192.0.2.1")).toBe("wrong");
    expect(await trial.unlock(post(""), link, "192.0.2.1")).toBe("wrong");
    expect(await trial.unlock(post("x=y&password=sec%26ret+%C3%A9"), link, "192.0.2.1")).toBe("open");
  });

  it("is opened by the longest password there is", async () => {
    const longest = "日".repeat(256);
    const trial = open(async (password) => password === longest);
    expect(await trial.try(longest)).toBe("open");
  });

  it("lets nobody guess: five tries a minute for a client and link, also all at once", async () => {
    const trial = open();
    const tries = await Promise.all(Array.from({ length: 20 }, () => trial.try("guess")));
    expect(tries.filter((each) => each === "wrong")).toHaveLength(5);
    expect(await trial.try("sec&ret é")).toBe("too_many");
    expect(await trial.try("guess", { id: 2 })).toBe("wrong");
    expect(await trial.try("guess", { address: "192.0.2.2" })).toBe("wrong");
    trial.wait(60_001);
    expect(await trial.try("sec&ret é")).toBe("open");
  });

  it("counts an IPv6 client by its network", async () => {
    const trial = open();
    for (let device = 1; device <= 5; device += 1)
      await trial.try("guess", { address: `2001:db8::${device}` });
    expect(await trial.try("guess", { address: "2001:db8::6" })).toBe("too_many");
    expect(await trial.try("guess", { address: "2001:db8:0:1::6" })).toBe("wrong");
  });

  it("forgives the wrong tries of one who knows it", async () => {
    const trial = open();
    for (let round = 0; round < 4; round += 1) {
      for (let guess = 0; guess < 4; guess += 1) expect(await trial.try("guess")).toBe("wrong");
      expect(await trial.try("sec&ret é")).toBe("open");
    }
  });

  it.each([
    ["no form", { "content-type": "application/json" }, "no_form"],
    ["another form", { "content-type": "multipart/form-data; boundary=x" }, "no_form"],
    ["no type", {}, "no_form"],
    [
      "more than a password by its own account",
      { "content-type": form, "content-length": "1025" },
      "too_large",
    ],
    ["more than a password", { "content-type": form }, "too_large"],
  ])("takes %s for what it is", async (_, headers, unlocking) => {
    expect(await open().unlock(post(`password=${"x".repeat(5_000)}`, { ...headers }), link, "")).toBe(
      unlocking,
    );
  });

  it("asks to be tried again later when too many passwords are being checked", async () => {
    const trial = open(() => Promise.reject(new Error("too many")));
    expect(await trial.try("sec&ret é")).toBe("busy");
  });

  it("takes a visitor who leaves while the form comes for gone", async () => {
    const request = Object.assign(new IncomingMessage(new Socket()), { headers: { "content-type": form } });
    const unlocking = open().unlock(request, link, "");
    request.destroy(new Error("reset"));
    expect(await unlocking).toBe("left");
  });
});
