import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createKeyring, UnreadableSecret } from "./keyring.ts";

const [old, young] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
const place = "webhook_endpoints:1/2 secret";

test("what was encrypted under any key of the list is read back, and only with that key", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      const value = createKeyring([old]).encrypt(text, place);
      expect(createKeyring([young, old]).decrypt(value, place)).toBe(text);
      expect(() => createKeyring([young]).decrypt(value, place)).toThrow(UnreadableSecret);
    }),
  );
});

test("a value is encrypted under the first key, never twice the same, and shows nothing of its text", () => {
  const ring = createKeyring([young, old]);
  const [a, b] = [ring.encrypt("whsec_secret", place), ring.encrypt("whsec_secret", place)];
  expect(a.equals(b)).toBe(false);
  expect(a.toString("latin1")).not.toContain("whsec");
  expect(a.subarray(0, ring.current.length)).toEqual(ring.current);
  expect(createKeyring([young]).decrypt(a, place)).toBe("whsec_secret");
});

test("a value that was moved to another row, column or table cannot be read there", () => {
  const ring = createKeyring([young]);
  const value = ring.encrypt("x", place);
  for (const other of [
    "webhook_endpoints:2/2 secret",
    "webhook_endpoints:1/2 headers",
    "integrations:1/2 secret",
    "",
  ]) {
    expect(() => ring.decrypt(value, other)).toThrow(/of another row/);
  }
});

test("any damage is noticed", () => {
  const ring = createKeyring([young]);
  const value = ring.encrypt("a secret", place);
  for (let at = 0; at < value.length; at += 1) {
    const damaged = Buffer.from(value);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    expect(() => ring.decrypt(damaged, place)).toThrow(UnreadableSecret);
    expect(() => ring.decrypt(value.subarray(0, at), place)).toThrow(UnreadableSecret);
  }
});

test("keys that are none are refused without being shown", () => {
  expect(() => createKeyring([])).toThrow(/^keys takes at least one key/);
  for (const text of ["c2hvcnQ=", `${young} `, old.slice(0, -1), "a".repeat(44)]) {
    expect(() => createKeyring([young, text])).toThrow(
      `key 2 takes 32 bytes in base64; got ${text.length} characters`,
    );
  }
});
