import { ErrorReply } from "@redis/client";
import { expect, it } from "vitest";

import { explainHello, helloOf } from "./hello.ts";
import { RedisUrlError } from "./url.ts";

const answering = (answer: unknown) => ({ sendCommand: async () => answer });

it.each([
  ["a list of bytes", ["mode", Buffer.from("standalone"), "proto", 2, "role", Buffer.from("replica")]],
  [
    "a map",
    new Map([
      ["mode", "standalone"],
      ["role", "replica"],
    ]),
  ],
  ["an object", { mode: "standalone", role: "replica" }],
])("a server's mode and role are read from %s", async (_form, answer) => {
  expect(await helloOf(answering(answer))).toEqual({ mode: "standalone", role: "replica" });
});

it("a server that will not say what it is, is taken for what it should be; one that does not answer is not", async () => {
  const refusing = { sendCommand: () => Promise.reject(new ErrorReply("NOPERM no")) };
  expect(await helloOf(refusing)).toEqual({ mode: undefined, role: undefined });
  const gone = { sendCommand: () => Promise.reject(new Error("Socket closed")) };
  await expect(helloOf(gone)).rejects.toThrow("Socket closed");
});

it("what sentinels name has to be a primary; a server that is named by itself may be a replica", () => {
  const replica = { mode: "standalone", role: "replica" };
  expect(explainHello(replica, true, "REDIS_URL")?.message).toContain("is a replica now");
  // It passes by itself.
  expect(explainHello(replica, true, "REDIS_URL")).not.toBeInstanceOf(RedisUrlError);
  expect(explainHello(replica, false, "REDIS_URL")).toBeUndefined();
  expect(explainHello({ mode: "standalone", role: "master" }, true, "REDIS_URL")).toBeUndefined();
  expect(explainHello({ mode: "cluster", role: "master" }, false, "REDIS_URL")).toBeInstanceOf(RedisUrlError);
});
