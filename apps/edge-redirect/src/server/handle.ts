import type { IncomingMessage, ServerResponse } from "node:http";

import type { LinkCache, Resolution } from "@sluice/link-store/link-cache.ts";
import type { Log } from "@sluice/service/log.ts";

import { onceAMinute } from "../once-a-minute.ts";
import type { Capture } from "../capture/capture.ts";
import * as answers from "./answers.ts";
import type { Outcome, ServerMetrics } from "./metrics.ts";
import { createPreparedLinks } from "./prepared-links.ts";
import { createTargetReader } from "./target.ts";

export interface HandlerOptions {
  readonly links: Pick<LinkCache, "get">;
  readonly capture: Pick<Capture, "record">;
  readonly metrics: ServerMetrics;
  readonly log: Log;
  /** Milliseconds since 1970, for links that expire. */
  readonly now: () => number;
}

/** Answers a request that arrived at `startedAt` of `performance.now()`. */
export type Handler = (request: IncomingMessage, response: ServerResponse, startedAt: number) => void;

/** A request that asks for a link. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: string;
  readonly startedAt: number;
}

/**
 * One visit: resolve the link, journal the click, answer, in that order. With the link in memory all of it happens
 * in one turn of the event loop, without a promise.
 */
export function createHandler(options: HandlerOptions): Handler {
  const { links, capture, metrics, log, now } = options;
  const readTarget = createTargetReader();
  const prepare = createPreparedLinks();
  const say = onceAMinute((error) => log.error({ error }, "a request could not be handled"));

  return (request, response, startedAt) => {
    try {
      handle(request, response, startedAt);
    } catch (error) {
      fail(response, error);
    }
  };

  function handle(request: IncomingMessage, response: ServerResponse, startedAt: number): void {
    if (request.method !== "GET" && request.method !== "HEAD")
      return send(response, answers.methodNotAllowed, "method_not_allowed");
    const target = readTarget(request);
    if (target === undefined) return send(response, answers.badRequest, "bad_request");
    const page = answers.pageAt(target.path);
    if (page !== undefined) return send(response, page, "page");
    if (target.slug === undefined) return send(response, answers.notFound, "not_found");
    const visit = { request, response, query: target.query, startedAt };
    const resolution = links.get(target.domain, target.slug);
    if (!(resolution instanceof Promise)) return answer(visit, resolution);
    resolution.then((resolved) => answer(visit, resolved)).catch((error: unknown) => fail(response, error));
  }

  function answer(visit: Visit, resolution: Resolution): void {
    const { request, response, query, startedAt } = visit;
    // A visitor who has left meanwhile gets no answer, so there is no click.
    if (response.destroyed) return metrics.answered("visitor_gone");
    if (resolution.kind === "unknown") return send(response, answers.notFound, "not_found");
    if (resolution.kind === "unavailable") return send(response, answers.unavailable, "unavailable");
    const { link } = resolution;
    const isOver = link.expiresAt !== undefined && link.expiresAt <= now();
    if (link.disabled || isOver) return send(response, answers.gone, "gone");
    const prepared = prepare(link);
    capture.record(request, prepared, query, () => {
      try {
        send(response, prepared.answer);
      } catch (error) {
        return fail(response, error);
      }
      metrics.redirectSeconds.observe((performance.now() - startedAt) / 1000);
    });
  }

  /** `outcome` is counted; redirects are by the histogram of their times. */
  function send(
    response: ServerResponse,
    { status, headers, body }: answers.Answer,
    outcome?: Outcome,
  ): void {
    response.writeHead(status, headers);
    response.end(body);
    if (outcome !== undefined) metrics.answered(outcome);
  }

  /** A bug, met by one visitor: the others must not lose the edge over it. */
  function fail(response: ServerResponse, error: unknown): void {
    say(error);
    if (response.headersSent) response.destroy();
    else send(response, answers.failed, "failed");
  }
}
