import { expect, test } from "vitest";
import { hashPassword, isPassword, isPasswordHash } from "./password.ts";

// Made by Python: hashlib.scrypt(b"old", salt=b"s" * 16, n=2**10, r=8, p=1, dklen=32).
const old = "$scrypt$ln=10,r=8,p=1$c3Nzc3Nzc3Nzc3Nzc3Nzcw$ChL8bavyYDWCrexBgwyq6q1OjsfTSkGwrcK4JSDkopk";

test("a password is known by its hash, and no other is", async () => {
  const hash = await hashPassword("corréct horse");
  expect(hash).toMatch(/^\$scrypt\$ln=14,r=8,p=1\$/);
  expect(isPasswordHash(hash)).toBe(true);
  expect(await isPassword("corréct horse", hash)).toBe(true);
  expect(await isPassword("corre\u0301ct horse", hash)).toBe(true);
  for (const wrong of ["", "correct horse", "corréct horse ", "x".repeat(257), "\ud800"]) {
    expect(await isPassword(wrong, hash)).toBe(false);
  }
});

test("the longest password is the same however it was typed", async () => {
  const longest = "é".repeat(256);
  const hash = await hashPassword(longest);
  expect(await isPassword(longest.normalize("NFD"), hash)).toBe(true);
});

test("a password hashed twice gives two texts", async () => {
  expect(await hashPassword("a")).not.toBe(await hashPassword("a"));
});

test("a hash made with other parameters is still known, within what a machine can bear", async () => {
  expect(await isPassword("old", old)).toBe(true);
  for (const other of [
    "",
    "unreadable",
    "old",
    old.replace("ln=10", "ln=30"),
    old.replace("p=1", "p=99"),
    `${old}=`,
  ]) {
    expect(isPasswordHash(other)).toBe(false);
    expect(await isPassword("old", other)).toBe(false);
  }
});

test("of a flood of passwords so many are checked as the machine bears, the others are told to come back", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => isPassword("old", old)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(32);
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(8);
  expect(refused[0]).toMatchObject({ reason: { code: "unavailable", retryable: true } });
  expect(await isPassword("old", old)).toBe(true);
});
