import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { createClient } from "@redis/client";
import { listen } from "@sluice/service/listen.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { expect, test } from "vitest";
import { visitorSaltInRedis } from "./salt-redis.ts";

const dayS = 86_400;
const today = Math.floor(Date.now() / 1000 / dayS);

describeWith("the keys of a day's visitors in Redis", testRedis, (redis) => {
  const saltOf = (day: number) => visitorSaltInRedis(redis().url)(day, randomBytes(32));

  test("are the same for all who ask, also for those who ask at once", async () => {
    const salts = await Promise.all(Array.from({ length: 8 }, () => saltOf(today)));
    expect(new Set(salts.map((salt) => Buffer.from(salt).toString("hex"))).size).toBe(1);
    expect(await saltOf(today)).toEqual(salts[0]);
    expect(await saltOf(today + 1)).not.toEqual(salts[0]);
  });

  test("are gone when the next day is over", async () => {
    await saltOf(today);
    const client = createClient({ url: redis().url });
    await client.connect();
    expect(await client.expireTime(`sluice:visitor-salt:${today}`)).toBe((today + 2) * dayS);
    await client.set(`sluice:visitor-salt:${today + 1}`, "something else");
    client.destroy();
    await expect(saltOf(today + 1)).rejects.toThrow("32 bytes");
  });
});

test("a Redis that is away or silent is given up in time", async () => {
  const fresh = randomBytes(32);
  await expect(visitorSaltInRedis("redis://127.0.0.1:1")(today, fresh)).rejects.toThrow("ECONNREFUSED");
  const silent = createServer((socket) => void socket.resume());
  const port = await listen(silent, { host: "127.0.0.1", port: 0, variable: "PORT" });
  const startedAt = performance.now();
  await expect(visitorSaltInRedis(`redis://127.0.0.1:${port}`)(today, fresh)).rejects.toThrow(/./);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  silent.close();
});
