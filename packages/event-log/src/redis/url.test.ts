import { expect, it } from "vitest";
import { parseRedisUrl } from "./url.ts";

it("takes what is ours from behind the `?`, and leaves the rest to the connection", () => {
  expect(parseRedisUrl("redis://localhost:6379")).toMatchObject({
    server: { address: "localhost:6379" },
    groups: [],
    maxLength: 500_000,
    idleMs: 60_000,
  });
  const set = "redis+sentinel://a:26379,b/clicks/3?groups=store,fan-out&sentinelPassword=s";
  expect(parseRedisUrl(`${set}&maxLength=20000&idleMs=5000`)).toMatchObject({
    server: { address: "a:26379,b" },
    groups: ["store", "fan-out"],
    maxLength: 20_000,
    idleMs: 5000,
  });
});

it.each([
  ["redis:", "EVENT_LOG_URL takes a URL like redis://host:6379/0"],
  ["redis+cluster://a,b", "no Redis Cluster"],
  ["redis://host?groups=a,,b", "groups: group names separated by commas"],
  ["redis://host?maxLength=9999", "maxLength: "],
  ["redis://host?maxlength=20000", "maxlength"],
  ["redis://host?idleMs=4999", "idleMs: "],
  ["redis://host?groups=a,b&yielding=b", "yielding: is a journal's; a stream takes groups alone"],
])("refuses %s and says what it takes", (url, reason) => {
  expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: "misuse" }));
  expect(() => parseRedisUrl(url)).toThrow(reason);
});

it("does not repeat a password", () => {
  expect(() => parseRedisUrl("redis://me:secret@host/clicks")).not.toThrow(/secret/);
  expect(() => parseRedisUrl("redis://me:secret@host/clicks")).toThrow("//…@host/clicks");
});
