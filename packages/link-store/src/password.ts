import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { LinkStoreError } from "./link-store.ts";

/**
 * 16 MiB and 60 ms of a core: what the author of scrypt names for logins. More would let visitors who guess take the
 * cores from those who are redirected.
 */
const cost = { ln: 14, r: 8, p: 1 };
const saltBytes = 16;
const hashBytes = 32;
const maxPasswordLength = 256;

const written = /^\$scrypt\$ln=(1[0-7]),r=(8),p=(\d|1[0-6])\$([A-Za-z\d+/]{22})\$([A-Za-z\d+/]{43})$/;

/** 1 to 256 characters in composed form. */
export function isPasswordText(password: string): boolean {
  const { length } = password.normalize("NFC");
  return length >= 1 && length <= maxPasswordLength && password.isWellFormed();
}

export function isPasswordHash(hash: string): boolean {
  return written.test(hash);
}

/**
 * `$scrypt$ln=14,r=8,p=1$salt$hash`: what it was made with stands in it, so that a later version can ask for more. The
 * password is taken in composed form (NFC, RFC 8265), as keyboards differ.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await inTurn(() => derive(password, salt, cost));
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(hash)}`;
}

/**
 * Whether the hash was made of this password; in a time that says nothing about how much of it is right. False for what
 * is no password or no hash. Rejects with `unavailable` when too many are being checked.
 */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, ln, r, p, salt = "", expected = ""] = written.exec(hash) ?? [];
  if (expected === "" || !isPasswordText(password)) return false;
  const asMade = { ln: Number(ln), r: Number(r), p: Number(p) };
  const actual = await inTurn(() => derive(password, Buffer.from(salt, "base64"), asMade));
  return timingSafeEqual(actual, Buffer.from(expected, "base64"));
}

function derive(password: string, salt: Buffer, { ln, r, p }: typeof cost): Promise<Buffer> {
  const options = { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFC"), salt, hashBytes, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** Of the process's four threads for such work; files and names must get on beside it. */
const maxAtOnce = 2;
/** A second or two: nobody waits longer for a page. */
const maxWaiting = 30;

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
  if (running === maxAtOnce) {
    if (waiting.length === maxWaiting) {
      throw new LinkStoreError("unavailable", "too many passwords are being checked");
    }
    // Whoever ends hands the turn over, so `running` stays as it is.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}
