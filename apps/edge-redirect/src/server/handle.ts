import type { IncomingMessage, ServerResponse } from "node:http";

import type { LinkCache } from "@sluice/link-store/link-cache.ts";
import { foldSlug } from "@sluice/link-store/slug.ts";

import * as answers from "./answers.ts";
import type { Domains } from "./domains.ts";
import { createResponder, isVisit, type RespondOptions } from "./respond.ts";
import { createServeLink, type ServeOptions, type Visit } from "./serve-link.ts";
import { createTargetReader } from "./target.ts";

export interface HandlerOptions extends ServeOptions, RespondOptions {
  readonly domains: Pick<Domains, "named" | "settingsOf">;
  readonly links: Pick<LinkCache, "get">;
}

/** Answers a request that arrived at `startedAt` of `performance.now()`. */
export type Handler = (request: IncomingMessage, response: ServerResponse, startedAt: number) => void;

/**
 * One visit: resolve the link, journal the click, answer, in that order. With domain and link in memory all of it
 * happens in one turn of the event loop, without a promise.
 */
export function createHandler(options: HandlerOptions): Handler {
  const { domains, links } = options;
  const responder = createResponder(options);
  const { send, sendNotFound, sendPage, refuseMethod, fail } = responder;
  const readTarget = createTargetReader(domains.named);
  const serveLink = createServeLink(options, responder);

  function handle(request: IncomingMessage, response: ServerResponse, startedAt: number): void {
    // A form may come for a link with a password.
    if (!isVisit(request.method) && request.method !== "POST") return refuseMethod(response);
    const target = readTarget(request);
    if (target === undefined) return send(response, answers.badRequest, "bad_request");
    const settings = domains.settingsOf(target.domain, startedAt);
    if (settings === undefined) return send(response, answers.unavailable, "unavailable");
    if (!(settings instanceof Promise)) return look({ request, response, target, settings, startedAt });
    settings
      .then((read) => look({ request, response, target, settings: read, startedAt }))
      .catch((error: unknown) => fail(response, error));
  }

  function look(visit: Visit): void {
    const { response, target, settings } = visit;
    const { verified, caseMode, homeUrl } = settings;
    const page = answers.pageAt(target.path);
    if (page !== undefined) {
      return sendPage(response, page, verified && target.path === "/" ? homeUrl : undefined);
    }
    if (!verified || target.slug === undefined) return sendNotFound(response, settings);
    const slug = caseMode === "insensitive" ? foldSlug(target.slug) : target.slug;
    const resolution = links.get(target.domain.name, slug);
    if (!(resolution instanceof Promise)) return serveLink(visit, resolution);
    resolution
      .then((resolved) => serveLink(visit, resolved))
      .catch((error: unknown) => fail(response, error));
  }

  return (request, response, startedAt) => {
    try {
      handle(request, response, startedAt);
    } catch (error) {
      fail(response, error);
    }
  };
}
