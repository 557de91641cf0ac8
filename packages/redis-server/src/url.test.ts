import { expect, it } from "vitest";
import { parseRedisUrl, RedisUrlError } from "./url.ts";

it("one server: host, login, database, TLS", () => {
  expect(parseRedisUrl("redis://localhost", "REDIS_URL")).toEqual({
    hosts: [{ host: "localhost", port: 6379 }],
    address: "localhost",
    username: undefined,
    password: undefined,
    database: 0,
    tls: undefined,
    sentinel: undefined,
    parameters: {},
  });
  expect(parseRedisUrl("rediss://me:s%40cret@[::1]:7000/3?groups=store", "REDIS_URL")).toMatchObject({
    hosts: [{ host: "::1", port: 7000 }],
    address: "[::1]:7000",
    username: "me",
    password: "s@cret",
    database: 3,
    tls: {},
    parameters: { groups: "store" },
  });
  // A server with one password and no users.
  expect(parseRedisUrl("redis://:s@host", "REDIS_URL")).toMatchObject({ username: undefined, password: "s" });
});

it("a set with sentinels: their addresses, its name, its login and theirs", () => {
  const url = "redis+sentinel://me:one@a:1,b,[::1]:3/clicks/2?sentinelUser=you&sentinelPassword=two&groups=g";
  expect(parseRedisUrl(url, "REDIS_URL")).toMatchObject({
    hosts: [
      { host: "a", port: 1 },
      { host: "b", port: 26_379 },
      { host: "::1", port: 3 },
    ],
    username: "me",
    password: "one",
    database: 2,
    tls: undefined,
    sentinel: { name: "clicks", username: "you", password: "two" },
    parameters: { groups: "g" },
  });
  expect(parseRedisUrl("rediss+sentinel://a,b/clicks", "REDIS_URL")).toMatchObject({ tls: {}, database: 0 });
});

it.each([
  ["http://host", "takes a URL like redis://host:6379/0 or redis+sentinel://host:26379,host:26379/name"],
  ["redis:///0", "takes a URL like redis://host:6379/0"],
  ["redis://host:0", "takes hosts like host:6379"],
  ["redis://host:99999", "takes hosts like host:6379"],
  ["redis://host/clicks", "takes a URL like redis://host:6379/0"],
  ["redis+sentinel://a,b", "takes a URL like redis+sentinel://"],
  ["redis+sentinel://a,,b/clicks", "takes hosts like"],
  ["redis+sentinel://a/clicks/x", "takes a URL like redis+sentinel://"],
  ["redis://a,b", "several hosts only as redis+sentinel://"],
  ["redis://a,b", "takes no Redis Cluster, which is not supported"],
  ["redis+cluster://a,b", "takes no Redis Cluster, which is not supported"],
  ["redis://a?ca=/ca.pem", "takes ca, cert and key only with rediss"],
  ["rediss://a?ca=/no/ca.pem", "ca takes the path of a readable file"],
  ["redis://u:%zz@a", "takes %25 for a %"],
])("%s is refused, with the setting and what it takes", (url, reason) => {
  expect(() => parseRedisUrl(url, "REDIS_URL")).toThrow(RedisUrlError);
  expect(() => parseRedisUrl(url, "REDIS_URL")).toThrow("redis: REDIS_URL ");
  expect(() => parseRedisUrl(url, "REDIS_URL")).toThrow(reason);
});

it("no password is repeated, a sentinel's neither", () => {
  const url = "redis+sentinel://me:secret1@a,b/?sentinelPassword=secret2";
  expect(() => parseRedisUrl(url, "REDIS_URL")).toThrow("//…@a,b/?sentinelPassword=…");
});
