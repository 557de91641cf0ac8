import { IncomingMessage } from "node:http";
import { Socket } from "node:net";

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { believeProxies, peerAddress } from "./client-address.ts";
import { trustProxies } from "./trusted-proxies.ts";

function request(peer: string, headers: Record<string, string> = {}): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: peer });
  return Object.assign(new IncomingMessage(socket), { headers });
}

function forwardedFor(peer: string, header: string, ...proxies: string[]): string {
  const addressOf = believeProxies(trustProxies(proxies), "x-forwarded-for");
  return addressOf(request(peer, { "x-forwarded-for": header }));
}

function believe(header: string, value: string, peer = "10.0.0.1"): string {
  return believeProxies(trustProxies(["private"]), header)(request(peer, { ...claims, [header]: value }));
}

const claims = {
  "x-forwarded-for": "9.9.9.9",
  forwarded: "for=9.9.9.9",
  "cf-connecting-ip": "9.9.9.9",
  "x-real-ip": "9.9.9.9",
  via: "1.1 9.9.9.9",
};

describe("without trusted proxies", () => {
  it("the peer is the client, whatever headers say", () => {
    expect(peerAddress(request("192.0.2.1", claims))).toBe("192.0.2.1");
  });
});

describe("X-Forwarded-For", () => {
  it.each([
    ["C1", "172.20.16.1, 172.20.16.17", ["172.20.16.15", "172.20.16.17"], "172.20.16.1"],
    ["C1", "172.20.16.1, 172.20.16.18, 172.20.16.17", ["private"], "172.20.16.1"],
    ["C1", "9.9.9.9, 198.51.100.1, 172.20.16.17", ["private"], "198.51.100.1"],
    ["C3", "99.247.8.214:65263", ["private"], "99.247.8.214"],
    ["C3", "2a01:e0a::1, 162.158.93.118:22358", ["private", "cloudflare"], "2a01:e0a::1"],
    ["C4", "[2620:0:d60:ac1a::10]:443", ["private"], "2620:0:d60:ac1a::10"],
    ["C9", "2001:db8::7", ["private"], "2001:db8::7"],
    ["C10", "0:0:0:0:0:FFFF:222.1.41.90", ["private"], "222.1.41.90"],
    ["empty elements", "198.51.100.1, ,\t, ", ["private"], "198.51.100.1"],
    // Nobody knows who was before a proxy that names nobody.
    ["C16", "198.51.100.1, unknown", ["private"], ""],
    ["garbage", "198.51.100.1, <script>", ["private"], ""],
    ["garbage further left is not looked at", "<script>, 198.51.100.1", ["private"], "198.51.100.1"],
  ])("%s: %s by way of %j is %s", (_, header, proxies, client) => {
    expect(forwardedFor("172.20.16.15", header, ...proxies)).toBe(client);
    expect(forwardedFor("::ffff:172.20.16.15", header, ...proxies)).toBe(client);
  });

  it("counts for nothing when the peer is not trusted", () => {
    expect(forwardedFor("203.0.113.1", "9.9.9.9", "private")).toBe("203.0.113.1");
  });

  it("that is missing means that the proxy itself asks", () => {
    expect(forwardedFor("10.0.0.1", "", "private")).toBe("10.0.0.1");
  });

  it("is read over so many proxies and no more, so that a long one costs nothing", () => {
    const header = `9.9.9.9${", 10.0.0.1".repeat(1_500)}`;
    expect(forwardedFor("10.0.0.2", header, "private")).toBe("10.0.0.1");
  });

  it("cannot be used to be somebody else: what is written left of a proxy's own word changes nothing", () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), (written, own) => {
        fc.pre(!own.startsWith("10."));
        expect(forwardedFor("10.0.0.2", `${written}, ${own}`, "10.0.0.0/8")).toBe(own);
      }),
    );
  });
});

describe("other headers", () => {
  it.each([
    ["forwarded", 'for="[2001:db8::7]:4711";proto=https, for=10.0.0.2', "2001:db8::7"],
    ["forwarded", "for=9.9.9.9, for=198.51.100.1", "198.51.100.1"],
    ["forwarded", "for=198.51.100.1, for=_hidden", ""],
    ["forwarded", "for=198.51.100.1, for=unknown", ""],
    // The nearest proxy does not say, so all before it may be the visitor's own words.
    ["forwarded", "for=9.9.9.9, proto=https", ""],
    ["forwarded", "for=198.51.100.1, ,", "198.51.100.1"],
    ["forwarded", 'for="9.9.9.9, for=198.51.100.1', ""],
    ["cf-connecting-ip", "198.51.100.1", "198.51.100.1"],
    ["cf-connecting-ip", "2001:DB8::7", "2001:db8::7"],
    // Sent twice.
    ["cf-connecting-ip", "9.9.9.9, 198.51.100.1", ""],
    ["x-real-ip", " 198.51.100.1:80 ", "198.51.100.1"],
  ])("%s: %s is %s", (header, value, client) => {
    expect(believe(header, value)).toBe(client);
    expect(believe(header, value, "203.0.113.1")).toBe("203.0.113.1");
  });

  it("C6: Via is not looked at", () => {
    const addressOf = believeProxies(trustProxies(["private"]), "x-forwarded-for");
    expect(addressOf(request("10.0.0.1", { via: "1.1 EC00048" }))).toBe("10.0.0.1");
  });
});
