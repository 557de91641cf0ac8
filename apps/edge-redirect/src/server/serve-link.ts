import type { IncomingMessage, ServerResponse } from "node:http";

import type { DomainSettings } from "@sluice/link-store/domain-store.ts";
import type { Resolution } from "@sluice/link-store/link-cache.ts";

import type { Capture, ClickedLink } from "../capture/capture.ts";
import * as answers from "./answers.ts";
import type { Domain } from "./domains.ts";
import { createFollow, type FollowOptions, type Next } from "./follow.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { Redirection } from "./plan.ts";
import { createPreparedLinks } from "./prepared-links.ts";
import { isVisit, type Responder } from "./respond.ts";
import type { Target } from "./target.ts";

export interface ServeOptions extends FollowOptions {
  readonly capture: Pick<Capture, "record" | "identify" | "isHuman">;
  readonly metrics: ServerMetrics;
  /** Memory for what is made once of each link, and as much again. */
  readonly preparedBytes: number;
}

/** A request that may ask for a link. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target<Domain>;
  readonly settings: DomainSettings;
  /** `performance.now()` at its arrival. */
  readonly startedAt: number;
}

/** Answers a visit with what is known of its link: journals the click first, where there is one. */
export function createServeLink(
  options: ServeOptions,
  { send, sendNotFound, refuseMethod, fail }: Responder,
): (visit: Visit, resolution: Resolution) => void {
  const { capture, metrics, now, preparedBytes } = options;
  const prepare = createPreparedLinks(preparedBytes);
  const follow = createFollow(options);

  function goOn(visit: Visit, next: Next): void {
    const { response } = visit;
    if (next.kind === "left" || response.destroyed) return metrics.answered("visitor_gone");
    if (next.kind === "not_yet") return sendNotFound(response, visit.settings);
    if (next.kind === "answer") return send(response, next.answer, next.outcome);
    redirect(visit, next.clicked, next.answer);
  }

  function redirect(
    { request, response, target, startedAt }: Visit,
    clicked: ClickedLink,
    planned: Redirection["answer"],
  ): void {
    capture.record(request, clicked, target.query, (eventId) => {
      if (eventId === undefined) return send(response, answers.unavailable, "unavailable");
      try {
        send(response, typeof planned === "function" ? planned(eventId) : planned);
      } catch (error) {
        return fail(response, error);
      }
      metrics.redirectSeconds.observe((performance.now() - startedAt) / 1000);
    });
  }

  return (visit, resolution) => {
    const { request, response, target } = visit;
    // A visitor who has left meanwhile gets no answer, so there is no click.
    if (response.destroyed) return metrics.answered("visitor_gone");
    if (resolution.kind === "unknown") return sendNotFound(response, visit.settings);
    if (resolution.kind === "unavailable") return send(response, answers.unavailable, "unavailable");
    const { link } = resolution;
    // Only a password is asked for by a form.
    if (link.passwordHash === undefined && !isVisit(request.method)) return refuseMethod(response);
    const isOver = link.expiresAt !== undefined && link.expiresAt <= now();
    if (link.disabled || isOver) return send(response, answers.gone, "gone");
    const prepared = prepare(link);
    const { plan } = prepared;
    if (plan === undefined) return redirect(visit, prepared, prepared.answer);
    const next = follow(request, target.query, prepared, plan);
    if (!(next instanceof Promise)) return goOn(visit, next);
    next.then((decided) => goOn(visit, decided)).catch((error: unknown) => fail(response, error));
  };
}
