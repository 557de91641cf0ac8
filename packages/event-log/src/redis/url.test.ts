import { expect, it } from "vitest";
import { parseRedisUrl } from "./url.ts";

it("takes host, database and TLS, and leaves our parameters out of what the driver is given", () => {
  expect(parseRedisUrl("redis://localhost:6379")).toEqual({
    url: "redis://localhost:6379",
    address: "localhost:6379",
    groups: [],
    maxLength: 500_000,
    idleMs: 60_000,
  });
  expect(
    parseRedisUrl("rediss://me:s%40cret@[::1]:7000/3?groups=store,fan-out&maxLength=20000&idleMs=5000"),
  ).toEqual({
    url: "rediss://me:s%40cret@[::1]:7000/3",
    address: "[::1]:7000",
    groups: ["store", "fan-out"],
    maxLength: 20_000,
    idleMs: 5000,
  });
});

it.each([
  ["redis:", "redis://host:6379/0?groups=store"],
  ["redis:///0", "redis://host:6379/0?groups=store"],
  ["redis://host/clicks", "redis://host:6379/0?groups=store"],
  ["redis://host?groups=a,,b", "groups: group names separated by commas"],
  ["redis://host?maxLength=9999", "maxLength: "],
  ["redis://host?maxlength=20000", "maxlength"],
  ["redis://host?idleMs=4999", "idleMs: "],
])("refuses %s and says what it takes", (url, reason) => {
  expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: "misuse" }));
  expect(() => parseRedisUrl(url)).toThrow(reason);
});

it("does not repeat a password", () => {
  expect(() => parseRedisUrl("redis://me:secret@host/clicks")).not.toThrow(/secret/);
  expect(() => parseRedisUrl("redis://me:secret@host/clicks")).toThrow("//…@host/clicks");
});
