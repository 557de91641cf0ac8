import { z } from "zod";
import type { HttpAnswer, HttpReply } from "../../http/http-client.ts";
import { all, type Asked, jsonOf, lockedOut, readGenerally, slower, spoilt, tellable } from "../answers.ts";
import type { Reading } from "../channel.ts";

/** By the code of the Graph API first, because its HTTP status says little: a full quota comes as 400 too. */
export function read(reply: HttpReply, asked: Asked, now: number): Reading {
  if (reply.kind === "failure") return readGenerally(reply, asked, now) ?? all(asked, delivered);
  const body = jsonOf(reply.body);
  const { data: failed } = Failed.safeParse(body);
  if (failed !== undefined) return readError(failed.error, reply, asked, now);
  const general = readGenerally(reply, asked, now);
  if (general !== undefined) return general;
  if (reply.status >= 400) {
    // A page of some gateway in between: it passes.
    return all(asked, { kind: "failed", code: "invalid-answer", detail: `HTTP ${reply.status}` });
  }
  const { data: received } = Received.safeParse(body);
  if (received === undefined) return all(asked, { kind: "unknown", code: "invalid-answer" });
  return received.events_received === asked.deliveries.length
    ? all(asked, delivered)
    : spoilt(asked, "refused", `${received.events_received} of ${asked.deliveries.length} events received`);
}

export function readTest(reply: HttpReply, asked: Asked, now: number): Reading {
  const isPixel =
    reply.kind === "answer" && reply.status === 200 && Pixel.safeParse(jsonOf(reply.body)).success;
  return isPixel ? all(asked, delivered) : read(reply, asked, now);
}

const delivered = { kind: "delivered" } as const;

function readError(error: GraphError, answer: HttpAnswer, asked: Asked, now: number): Reading {
  const detail = tellable(`${error.error_user_msg ?? error.message} (${error.code})`, asked);
  if (isOverQuota(error.code) || answer.status === 429) {
    return slower(asked, { kind: "failed", code: "rate-limited", detail }, answer, now);
  }
  if (isLockedOut(error.code)) return lockedOut(asked, detail);
  if (passing.has(error.code) || error.is_transient === true || answer.status >= 500) {
    return all(asked, { kind: "failed", code: "server-error", detail });
  }
  return spoilt(asked, "refused", detail);
}

/** Of the app, of the user, of a page, by a rule of their own; from 80,000 on those of each business use case. */
const isOverQuota = (code: number): boolean =>
  [4, 17, 32, 613].includes(code) || (code >= 80_000 && code < 80_100);
/** The session or the token is dead; no right to this call, or to this pixel. */
const isLockedOut = (code: number): boolean => [10, 102, 190].includes(code) || (code >= 200 && code < 300);
/** Unknown, service down, try later, blocked for a while, … */
const passing = new Set([1, 2, 341, 368, 5_000, 21_009]);

const Failed = z.object({
  error: z.object({
    code: z.int(),
    message: z.string().default("no message"),
    error_user_msg: z.string().nullish(),
    is_transient: z.boolean().nullish(),
  }),
});
type GraphError = z.infer<typeof Failed>["error"];
const Received = z.object({ events_received: z.int().min(0) });
const Pixel = z.object({ id: z.string() });
