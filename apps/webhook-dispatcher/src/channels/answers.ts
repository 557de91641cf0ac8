import { clip } from "@sluice/click-event/clip.ts";
import type { Delivery } from "../delivery.ts";
import type { HttpAnswer, HttpReply } from "../http/http-client.ts";
import type { Advice, Reading, Verdict } from "./channel.ts";

/** What was asked, for whoever reads the answer. */
export interface Asked {
  readonly deliveries: readonly Delivery[];
  /** Credentials that an answer might repeat. */
  readonly secrets: readonly string[];
}

/**
 * What an answer means wherever it comes from, or undefined where that is the receiver's own matter: 2xx, and the 4xx
 * that are not about the rate, the size or the time.
 */
export function readGenerally(reply: HttpReply, asked: Asked, now: number): Reading | undefined {
  if (reply.kind === "failure") {
    return all(asked, { kind: reply.maybeReceived ? "unknown" : "failed", code: reply.code });
  }
  const { status } = reply;
  if (status === 413) return spoilt(asked, "too-large", "HTTP 413");
  const detail = `HTTP ${status}`;
  if (status === 429) return slower(asked, { kind: "failed", code: "rate-limited", detail }, reply, now);
  if (status === 408 || status >= 500) {
    const verdict = { kind: "failed", code: "server-error", detail } as const;
    return retryAfterMs(reply, now) === undefined ? all(asked, verdict) : slower(asked, verdict, reply, now);
  }
  if (status >= 300 && status < 400) return all(asked, { kind: "failed", code: "redirected", detail });
  return status < 200 ? all(asked, { kind: "failed", code: "unexpected-status", detail }) : undefined;
}

/** The same for each delivery; for the one request of a test, which has none, one verdict. */
export function all({ deliveries }: Asked, verdict: Verdict, advice?: Advice): Reading {
  const verdicts = deliveries.length === 0 ? [verdict] : deliveries.map(() => verdict);
  return advice === undefined ? { verdicts } : { verdicts, advice };
}

/** Refused as a whole: for good if it was one, else because of one that has to be found. */
export function spoilt(asked: Asked, code: string, detail: string): Reading {
  const about = { code, detail: tellable(detail, asked) };
  return asked.deliveries.length > 1
    ? { ...all(asked, { kind: "failed", ...about }), split: true }
    : all(asked, { kind: "refused", ...about });
}

/** The credentials are no longer taken. The deliveries wait for new ones. */
export function lockedOut(asked: Asked, detail: string): Reading {
  const told = tellable(detail, asked);
  return all(
    asked,
    { kind: "failed", code: "unauthorized", detail: told },
    { kind: "disable", reason: `its credentials are not taken: ${told}` },
  );
}

/** As told by `Retry-After`, else twice as long with each attempt that was made before, from 2 s to a minute. */
export function slower(asked: Asked, verdict: Verdict, answer: HttpAnswer, now: number): Reading {
  const made = Math.max(0, ...asked.deliveries.map((delivery) => delivery.made));
  const forMs = retryAfterMs(answer, now) ?? Math.min(2_000 * 2 ** made, 60_000);
  return all(asked, verdict, { kind: "slow-down", forMs });
}

/** What a receiver says, fit to be shown: short, in one line, without our credentials. */
export function tellable(text: string, { secrets }: Pick<Asked, "secrets">): string {
  let told = text;
  for (const secret of secrets) {
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")]) {
      told = told.replaceAll(form, "***");
    }
  }
  return clip(told.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " "), maxDetail);
}

/** A sentence or two, as vendors write them. */
const maxDetail = 200;

/** The object that a body is, or undefined. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** How long `Retry-After` asks to wait, in seconds or until a date; undefined without it. */
export function retryAfterMs({ headers }: HttpAnswer, now: number): number | undefined {
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(until - now, 0);
}
