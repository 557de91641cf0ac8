import type { ServerResponse } from "node:http";

import type { DomainSettings } from "@sluice/link-store/domain-store.ts";
import type { Log } from "@sluice/service/log.ts";

import { onceAMinute } from "../once-a-minute.ts";
import * as answers from "./answers.ts";
import type { Outcome, ServerMetrics } from "./metrics.ts";

export interface RespondOptions {
  readonly metrics: ServerMetrics;
  readonly log: Log;
}

/** Writes answers. */
export interface Responder {
  /** `outcome` is counted; redirects are by the histogram of their times. */
  readonly send: (response: ServerResponse, answer: answers.Answer, outcome?: Outcome) => void;
  /** The same for every path that leads nowhere; nothing of it is in the answer. */
  readonly sendNotFound: (response: ServerResponse, settings: DomainSettings) => void;
  /** What is at a path that is no link's. */
  readonly sendPage: (response: ServerResponse, page: answers.Answer, home: string | undefined) => void;
  readonly refuseMethod: (response: ServerResponse) => void;
  /** A bug, met by one visitor: the others must not lose the edge over it. */
  readonly fail: (response: ServerResponse, error: unknown) => void;
}

export function createResponder({ metrics, log }: RespondOptions): Responder {
  const say = onceAMinute((error) => log.error({ error }, "a request could not be handled"));

  function send(
    response: ServerResponse,
    { status, headers, body }: answers.Answer,
    outcome?: Outcome,
  ): void {
    response.writeHead(status, headers);
    response.end(body);
    if (outcome !== undefined) metrics.answered(outcome);
  }

  function refuseMethod(response: ServerResponse): void {
    send(response, answers.methodNotAllowed, "method_not_allowed");
  }

  function sendPage(
    response: ServerResponse,
    page: answers.Answer,
    elsewhere: string | undefined,
    outcome: Outcome = "page",
  ): void {
    if (!isVisit(response.req.method)) refuseMethod(response);
    else if (elsewhere === undefined) send(response, page, outcome);
    else send(response, answers.sendElsewhere(elsewhere), "sent_elsewhere");
  }

  return {
    send,
    sendNotFound(response, { verified, notFoundUrl }) {
      sendPage(response, answers.notFound, verified ? notFoundUrl : undefined, "not_found");
    },
    sendPage,
    refuseMethod,
    fail(response, error) {
      say(error);
      if (response.headersSent) response.destroy();
      else send(response, answers.failed, "failed");
    },
  };
}

/** Whether it is a method by which links are followed. */
export function isVisit(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}
