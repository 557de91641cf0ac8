import type { IncomingMessage } from "node:http";

import { networkOf } from "../capture/visitor-hash.ts";
import { createRecent } from "../recent.ts";

export interface UnlockOptions {
  /** Rejects when too many are being checked. */
  readonly isPassword: (password: string, hash: string) => Promise<boolean>;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/** What came of a visitor's try to unlock a link. `left`: nobody is there to be answered any more. */
export type Unlocking = "open" | "wrong" | "too_many" | "too_large" | "no_form" | "busy" | "left";

/** The longest password, 256 characters of three bytes, percent-encoded, and its name; and room to be typed decomposed. */
const maxFormBytes = 4_096;
/** Wrong passwords of a client at a link, in a window of so long: a person's mistakes, and no search. */
const maxTries = 5;
export const triesWindowMs = 60_000;
/** About 100 bytes each. */
const maxRemembered = 20_000;

/** Reads a posted form and checks its password against the link's, within the limits above. Never rejects. */
export function createUnlock({
  isPassword,
  now = () => performance.now(),
}: UnlockOptions): (request: IncomingMessage, link: LockedLink, address: string) => Promise<Unlocking> {
  const tries = createRecent<string, { count: number; readonly until: number }>(maxRemembered);

  /** Counts before the check, so that tries at the same moment do not slip through. */
  function isTooMany(key: string): boolean {
    const found = tries.get(key);
    if (found === undefined || found.until <= now()) {
      tries.set(key, { count: 1, until: now() + triesWindowMs });
      return false;
    }
    found.count += 1;
    return found.count > maxTries;
  }

  return async (request, link, address) => {
    const password = await readPassword(request);
    if (typeof password !== "string") return password.problem;
    const key = `${link.id} ${networkOf(address)}`;
    if (isTooMany(key)) return "too_many";
    let isRight: boolean;
    try {
      isRight = await isPassword(password, link.passwordHash);
    } catch {
      return "busy";
    }
    // Whoever knows it is no longer guessing.
    if (isRight) tries.set(key, { count: 0, until: 0 });
    return isRight ? "open" : "wrong";
  };
}

export interface LockedLink {
  readonly id: number;
  readonly passwordHash: string;
}

async function readPassword(request: IncomingMessage): Promise<string | { readonly problem: Unlocking }> {
  const { "content-type": type = "", "content-length": length } = request.headers;
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return { problem: "no_form" };
  if (Number(length ?? 0) > maxFormBytes) return { problem: "too_large" };
  let form = "";
  try {
    // What is left unread ends with the connection, after the answer; the server bounds how long a body may take.
    for await (const chunk of request.setEncoding("latin1").iterator({ destroyOnReturn: false })) {
      form += String(chunk);
      if (form.length > maxFormBytes) return { problem: "too_large" };
    }
  } catch {
    return { problem: "left" };
  }
  return new URLSearchParams(form).get("password") ?? "";
}
