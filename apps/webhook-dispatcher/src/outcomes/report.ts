import type { Attempt } from "@sluice/click-store/attempts.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { crash } from "../crash.ts";
import type { Delivery } from "../delivery.ts";
import type { Outcome } from "../lanes/lanes.ts";
import { patienceMs, type Standing } from "../standing/standing.ts";
import type { OutcomeMetrics } from "./metrics.ts";
import { isUnavailable } from "../store-errors.ts";

export interface ReportOptions {
  /** Never waits and never throws. */
  readonly logAttempt: (attempt: Attempt) => void;
  readonly standing: Standing;
  readonly metrics: OutcomeMetrics;
  /** Rejects as the link store does. */
  readonly disable: (target: TargetId, reason: string) => Promise<void>;
}

/**
 * Gives the function that is told of every outcome, after it was decided: it logs the attempt, and disables a target that
 * has failed for five days. Nothing of it can have a delivery sent again.
 */
export function createReport({ logAttempt, standing, disable, metrics }: ReportOptions) {
  async function judge(target: TargetId, outcome: Outcome): Promise<void> {
    const now = Date.now();
    try {
      if (outcome.kind === "delivered") await standing.succeeded(target, now);
      else if (isFailure(outcome) && (await standing.failed(target, now)))
        await disable(target, failedTooLong);
    } catch (error) {
      // It is judged again by the next outcome after a minute.
      if (!isUnavailable(error)) throw error;
    }
  }

  return (delivery: Delivery, outcome: Outcome): void => {
    const attempt = attemptOf(delivery, outcome);
    if (attempt !== undefined) {
      logAttempt(attempt);
      if (attempt.number === 1 && !attempt.replayed && attempt.outcome !== "skipped")
        metrics.firstAttempt.observe({}, Math.max(0, attempt.ts - delivery.event.ts) / 1_000);
    }
    judge(delivery.target, outcome).catch(crash);
  };
}

const failedTooLong = `it has failed for ${patienceMs / 86_400_000} days without one success`;

/** What was refused was read by a target that works. */
function isFailure(outcome: Outcome): boolean {
  return outcome.kind === "retry" || (outcome.kind === "dead" && !outcome.refused);
}

/** The line of the delivery log; none of what was never sent, apart from what was skipped. */
function attemptOf({ target, event, made, replayed }: Delivery, outcome: Outcome): Attempt | undefined {
  const about = {
    eventId: event.id,
    eventType: event.type,
    target,
    workspaceId: event.workspaceId,
    replayed,
    nextAt: outcome.kind === "retry" ? outcome.dueAt : 0,
  };
  if (outcome.kind === "skipped") {
    return {
      ...about,
      ts: Date.now(),
      number: made + 1,
      outcome: "skipped",
      code: outcome.reason,
      status: 0,
      durationMs: 0,
      response: "",
    };
  }
  if (outcome.attempt === undefined) return undefined;
  const { startedAt, durationMs, status, response } = outcome.attempt;
  return {
    ...about,
    ts: startedAt,
    number: outcome.made,
    outcome: nameOf(outcome),
    code: outcome.kind === "delivered" ? "" : outcome.code,
    status,
    durationMs,
    response: response === "" && "detail" in outcome ? (outcome.detail ?? "") : response,
  };
}

function nameOf(outcome: Exclude<Outcome, { kind: "skipped" }>): string {
  if (outcome.kind === "retry") return "failed";
  if (outcome.kind === "dead") return outcome.refused ? "refused" : "failed";
  return outcome.kind;
}
