import type { KeyObject } from "node:crypto";
import * as fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { keyOf, messageId, sign } from "./sign.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

function keysOf(...secrets: readonly string[]): KeyObject[] {
  return secrets.map(keyOf).filter((key) => key !== undefined);
}

test("the published test vector of Standard Webhooks comes out", () => {
  const body = Buffer.from('{"test": 2432232314}');
  expect(sign(keysOf(secret), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body)).toBe(
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

test("with two secrets there are two signatures, in their order, separated by a space", () => {
  const body = Buffer.from("{}");
  const [first, second, ...more] = sign(keysOf(other, secret), "msg_1", 1_700_000_000, body).split(" ");
  expect(first).toBe(sign(keysOf(other), "msg_1", 1_700_000_000, body));
  expect(second).toBe(sign(keysOf(secret), "msg_1", 1_700_000_000, body));
  expect(more).toEqual([]);
});

test("whatever is signed, the official library verifies it with each of the secrets, and nothing else", () => {
  fc.assert(
    fc.property(fc.json(), fc.uuid(), (text, eventId) => {
      const body = Buffer.from(text);
      const id = messageId(eventId, "ep_1");
      const timestamp = Math.floor(Date.now() / 1_000);
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": sign(keysOf(other, secret), id, timestamp, body),
      };
      for (const each of [secret, other]) {
        expect(new Webhook(each).verify(body, headers)).toEqual(JSON.parse(text));
      }
      const third = new Webhook(`whsec_${Buffer.alloc(32, 8).toString("base64")}`);
      expect(() => third.verify(body, headers)).toThrow("No matching signature found");
      expect(() => new Webhook(secret).verify(`${text} `, headers)).toThrow("No matching signature found");
    }),
  );
});

test.each([
  "",
  "whsec_",
  "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "whsec_short",
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
  "whsec_MfKQ9r8GKYqrTwj PD8ILPZIo2LaLaSw",
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_",
  `whsec_${Buffer.alloc(23).toString("base64")}`,
  `whsec_${Buffer.alloc(65).toString("base64")}`,
  "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
])("%j is no secret", (text) => {
  expect(keyOf(text)).toBeUndefined();
});

test("the id of a message is the same each time, another for each event and target, and has no full stop", () => {
  const ids = [
    messageId("a", "ep_1"),
    messageId("a", "ep_2"),
    messageId("b", "ep_1"),
    messageId("a", "ep_11"),
  ];
  expect(new Set(ids).size).toBe(4);
  expect(messageId("a", "ep_1")).toBe(ids[0]);
  for (const id of ids) expect(id).toMatch(/^msg_[\w-]{27}$/);
  // Stays so: receivers remember the ids that they have had.
  expect(ids[0]).toMatchInlineSnapshot(`"msg_FGJ9ch90hItMr94QQqWhxKV4zUn"`);
});
