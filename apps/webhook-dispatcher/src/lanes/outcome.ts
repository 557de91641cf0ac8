import type { Verdict } from "../channels/channel.ts";
import type { Delivery } from "../delivery.ts";
import type { HttpReply } from "../http/http-client.ts";
import { nextAttempt } from "../retry-schedule.ts";
import type { Addressee, AttemptMade, Outcome } from "./lanes.ts";

/** What a verdict means for a delivery. Nothing is due before `notBefore`, the end of a pause of its target. */
export function outcomeOf(
  verdict: Verdict,
  { made: before }: Delivery,
  attempt: AttemptMade | undefined,
  { channel }: Addressee,
  { now, notBefore, random }: { now: number; notBefore: number; random: () => number },
): Outcome {
  const made = before + 1;
  if (verdict.kind === "delivered")
    return {
      kind: "delivered",
      made,
      attempt: attempt ?? { startedAt: now, durationMs: 0, status: 0, response: "" },
    };
  const { code, detail } = verdict;
  const failed = {
    made,
    code,
    ...(detail !== undefined && { detail }),
    ...(attempt !== undefined && { attempt }),
  };
  if (verdict.kind === "refused") return { kind: "dead", refused: true, ...failed };
  if (verdict.kind === "unknown" && !channel.deduplicates) return { kind: "unknown", ...failed };
  const next =
    channel.maxTries !== undefined && made >= channel.maxTries ? undefined : nextAttempt(made, now, random);
  if (next === undefined) return { kind: "dead", refused: false, ...failed };
  return { kind: "retry", dueAt: Math.max(next, notBefore), ...failed };
}

const responseBytes = 1_024;

/** A vendor's answer may repeat our credentials, so of that only what its channel tells is shown. */
export function attemptMade(
  startedAt: number,
  durationMs: number,
  reply: HttpReply,
  { target }: Pick<Addressee, "target">,
): AttemptMade {
  if (reply.kind === "failure") return { startedAt, durationMs, status: 0, response: "" };
  // A copy: a slice would keep the whole answer in memory for as long as anybody waits.
  const isCustomers = target.kind === "webhook" || target.kind === "pixel";
  if (!isCustomers) return { startedAt, durationMs, status: reply.status, response: "" };
  const response = Buffer.from(reply.body.slice(0, responseBytes)).toString("utf8", 0, responseBytes);
  return { startedAt, durationMs, status: reply.status, response };
}
