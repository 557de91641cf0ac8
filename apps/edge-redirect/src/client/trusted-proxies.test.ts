import { describe, expect, it } from "vitest";

import { BadProxyError, presets, trustProxies } from "./trusted-proxies.ts";

describe("the list of trusted proxies", () => {
  it.each([
    ["10.0.0.0/8", "10.255.255.255", "11.0.0.0"],
    ["192.0.2.7", "192.0.2.7", "192.0.2.8"],
    ["2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"],
    ["2001:db8::1", "2001:db8::1", "2001:db8::2"],
    // Bits behind the prefix count for nothing.
    ["10.1.2.3/8", "10.9.9.9", "9.1.2.3"],
    ["loopback", "127.5.5.5", "128.0.0.1"],
    ["Loopback", "::1", "::2"],
    ["link-local", "fe80::1", "fec0::1"],
    ["private", "172.31.255.255", "172.32.0.0"],
    ["private", "fd00::1", "fe00::1"],
    ["cloudflare", "162.158.93.118", "8.8.8.8"],
    ["cloudflare", "2606:4700::6810:1", "2606:4600::1"],
  ])("%s has %s and not %s", (entry, inside, outside) => {
    const isTrusted = trustProxies([entry]);
    for (let times = 0; times < 2; times += 1) {
      expect(isTrusted(inside)).toBe(true);
      expect(isTrusted(outside)).toBe(false);
    }
  });

  it("trusts nobody who is not in it, and nothing that is no address", () => {
    const isTrusted = trustProxies(["loopback", "192.0.2.0/24"]);
    expect(isTrusted("192.0.2.200")).toBe(true);
    for (const other of ["", "loopback", "unknown", "8.8.8.8", "192.0.2.1:80"]) {
      expect(isTrusted(other)).toBe(false);
    }
  });

  it.each([
    ["10.0.0.0/33", "1 to 32 bits"],
    ["10.0.0.0/", "1 to 32 bits"],
    ["10.0.0.0/8x", "1 to 32 bits"],
    ["2001:db8::/129", "1 to 128 bits"],
    ["0.0.0.0/0", "1 to 32 bits"],
    ["::/0", "1 to 128 bits"],
    ["300.0.0.0/8", "an address, a network"],
    ["10.0.0.0/8/8", "an address, a network"],
    ["fe80::1%eth0", "an address, a network"],
    ["proxy.example.com", "an address, a network"],
    ["cloudfare", Object.keys(presets).join(", ")],
  ])("refuses %s, naming it and the rule", (entry, rule) => {
    const trust = () => trustProxies(["loopback", entry]);
    expect(trust).toThrow(BadProxyError);
    expect(trust).toThrow(entry);
    expect(trust).toThrow(rule);
  });
});
