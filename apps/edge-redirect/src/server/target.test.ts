import { normaliseDomain } from "@sluice/link-store/domain.ts";
import { describe, expect, it } from "vitest";

import { createTargetReader, type Target } from "./target.ts";

function read(url: string, ...hosts: string[]): Target<string> | undefined {
  return createTargetReader(normaliseDomain)({
    url,
    rawHeaders: ["Accept", "*/*", ...hosts.flatMap((host) => ["Host", host])],
  });
}

describe("what a request asks for", () => {
  it.each([
    ["/demo", "demo", ""],
    ["/demo?a=b?c", "demo", "a=b?c"],
    ["/demo?", "demo", ""],
    ["/store/", "store", ""],
    ["/caf%C3%A9", "café", ""],
    ["/cafe%CC%81", "café", ""],
    ["/T+B-lunch", "T+B-lunch", ""],
    ["/%C0%80", undefined, ""],
    ["/a%2Fb", undefined, ""],
    ["/a/b", undefined, ""],
    ["//evil.com/", undefined, ""],
    ["/\\evil.com", undefined, ""],
  ])("by %s is the slug %s and the query '%s'", (url, slug, query) => {
    expect(read(url, "go.example.com")).toMatchObject({ slug, query });
  });

  it.each([
    ["go.example.com", "go.example.com"],
    ["GO.Example.com:8080", "go.example.com"],
    ["go.example.com.", "go.example.com"],
    // A22
    ["amd➧.ws", "xn--amd-uz6a.ws"],
    ["127.0.0.1:8080", "127.0.0.1"],
    ["localhost", "localhost"],
  ])("of the host %s is the domain %s", (host, domain) => {
    expect(read("/x", host)?.domain).toBe(domain);
  });

  it.each([
    ["no host", []],
    ["an empty host", [""]],
    ["a host that is none", ["a b"]],
    ["A26: two hosts, though they are the same", ["go.example.com", "go.example.com"]],
  ])("is not clear with %s", (_, hosts) => {
    expect(read("/x", ...hosts)).toBeUndefined();
  });

  it("is in a proxy's form the path, when it is for the same host", () => {
    expect(read("http://Go.example.com:80/demo?a=b", "go.example.com")).toMatchObject({
      slug: "demo",
      query: "a=b",
    });
    expect(read("http://go.example.com", "go.example.com")).toMatchObject({ path: "/" });
    expect(read("http://go.example.com?a=b", "go.example.com")).toMatchObject({ path: "/", query: "a=b" });
  });

  it.each([
    "http://evil.com/demo",
    "http://go.example.com@evil.com/demo",
    "ftp://go.example.com/demo",
    "demo",
    "*",
    "",
  ])("A26: is not clear by %s", (url) => {
    expect(read(url, "go.example.com")).toBeUndefined();
  });
});
