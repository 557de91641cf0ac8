import type { HttpAnswer, HttpReply } from "../../http/http-client.ts";
import type { WebhookCode } from "../../outcome-codes.ts";
import { retryAfterMs, tellable } from "../answers.ts";
import type { Reading } from "../channel.ts";

/** What an endpoint's answer means. With `isPrivate` nothing that it says is repeated. */
export function readAnswer(reply: HttpReply, now: number, isPrivate: boolean): Reading {
  if (reply.kind === "failure") return { verdicts: [{ kind: "failed", code: reply.code }] };
  const { status } = reply;
  if (status >= 200 && status < 300) return { verdicts: [{ kind: "delivered" }] };
  const detail = `HTTP ${status}`;
  if (status === 410) {
    return {
      verdicts: [{ kind: "refused", code: "gone" satisfies WebhookCode, detail }],
      advice: { kind: "disable", reason: "it answered 410 Gone" },
    };
  }
  if (status >= 300 && status < 400) {
    return failed(
      "redirected",
      isPrivate ? detail : `${detail}${placeOf(reply)}; redirects are not followed`,
    );
  }
  const code = codeOf(status);
  const forMs = slowing.has(status) ? (retryAfterMs(reply, now) ?? 0) : 0;
  return forMs > 0 ? { ...failed(code, detail), advice: { kind: "slow-down", forMs } } : failed(code, detail);
}

/** Those by which a receiver says that it is too much, and until when. */
const slowing = new Set([429, 502, 503, 504]);

function codeOf(status: number): WebhookCode {
  if (status === 429) return "rate-limited";
  return status >= 500 && status < 600 ? "server-error" : "unexpected-status";
}

function failed(code: WebhookCode, detail: string): Reading {
  return { verdicts: [{ kind: "failed", code, detail }] };
}

function placeOf({ headers }: HttpAnswer): string {
  const { location = "" } = headers;
  return location === "" ? "" : ` to ${tellable(location, { secrets: [] })}`;
}
