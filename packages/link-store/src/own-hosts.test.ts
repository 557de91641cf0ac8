import { expect, test } from "vitest";
import { normaliseDestination } from "./destination.ts";
import { webHost, webHostsOf } from "./own-hosts.ts";

test.each([
  ["https://Go.Example.com:8443/x", "go.example.com"],
  ["https://user@go.example.com./x", "go.example.com"],
  ["http://www.tübingen.de", "www.xn--tbingen-n2a.de"],
  ["http://127.1/", "127.0.0.1"],
  ["http://2130706433/", "127.0.0.1"],
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://[::ffff:127.0.0.1]/", "127.0.0.1"],
  ["http://[0:0:0:0:0:FFFF:7F00:1]/", "127.0.0.1"],
  ["http:127.0.0.1", "127.0.0.1"],
  ["mailto:me@go.example.com", undefined],
  ["fb://localhost/1", undefined],
])("B32: %s leads to the host %s", (text, host) => {
  const outcome = normaliseDestination(text);
  expect("href" in outcome && webHost(outcome.href)).toBe(host);
});

test("all destinations of a link are looked at, each host once", () => {
  const options = {
    rules: [{ countries: ["DE"], destination: to("rule.example") }],
    variants: [
      { destination: to("variant.example"), weight: 1 },
      { destination: to("a.example"), weight: 1 },
    ],
    apps: { ios: to("ios.example"), android: to("android.example") },
  };
  expect(webHostsOf(to("a.example"), options).toSorted()).toEqual([
    "a.example",
    "android.example",
    "ios.example",
    "rule.example",
    "variant.example",
  ]);
  expect(webHostsOf(undefined, {})).toEqual([]);
});

function to(host: string): string {
  return `https://${host}/`;
}
