import type { IncomingMessage } from "node:http";

import type { Capture } from "../capture/capture.ts";
import { firstLanguage } from "../capture/language.ts";
import { networkOf } from "../capture/visitor-hash.ts";
import type { Visitor } from "../capture/visitors.ts";
import { unmap } from "../client/address.ts";
import type { ClientAddress } from "../client/client-address.ts";
import type { Equipment } from "../rules/equipment.ts";
import { createLots } from "../rules/variant.ts";
import * as answers from "./answers.ts";
import type { ClickLimits } from "./click-limits.ts";
import type { Outcome } from "./metrics.ts";
import * as pages from "./pages.ts";
import type { Plan, PlannedVisit, Redirection } from "./plan.ts";
import type { PreparedLink } from "./prepared-links.ts";
import { createUnlock, triesWindowMs, type UnlockOptions, type Unlocking } from "./unlock.ts";

export interface FollowOptions {
  readonly capture: Pick<Capture, "identify" | "isHuman">;
  /** The client's address stays in memory. */
  readonly addressOf: ClientAddress;
  readonly limits: Pick<ClickLimits, "use">;
  readonly isPassword: UnlockOptions["isPassword"];
  /** Keeps visitors with their variant: the same at every edge. */
  readonly variantKey: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What becomes of a visit to a link whose answer depends on the visit. */
export type Next =
  | Redirection
  | { readonly kind: "answer"; readonly answer: answers.Answer; readonly outcome: Outcome }
  /** As if there were no such link. */
  | { readonly kind: "not_yet" }
  | { readonly kind: "left" };

interface Sources extends Pick<FollowOptions, "now"> {
  readonly capture: Pick<Capture, "identify">;
  readonly clientOf: (request: IncomingMessage) => string;
  readonly lotOf: ReturnType<typeof createLots>;
}

/** A visit that answers a plan's questions: one object, because each visit to such a link makes it. */
class AskedVisit implements PlannedVisit {
  readonly now: number;
  readonly query: string;
  readonly #sources: Sources;
  readonly #request: IncomingMessage;
  readonly #link: PreparedLink;
  #place: Visitor | undefined;
  #language: string | undefined;

  constructor(sources: Sources, request: IncomingMessage, query: string, link: PreparedLink) {
    this.now = sources.now();
    this.query = query;
    this.#sources = sources;
    this.#request = request;
    this.#link = link;
  }

  get userAgent(): string {
    return this.#request.headers["user-agent"] ?? "";
  }

  get posted(): boolean {
    return this.#request.method === "POST";
  }

  place(): Visitor {
    return (this.#place ??= this.#sources.capture.identify(this.#request, this.#link));
  }

  equipment(): Equipment {
    return this.place().equipment;
  }

  language(): string {
    return (this.#language ??= firstLanguage(this.#request.headers["accept-language"] ?? "").toLowerCase());
  }

  lot(): number {
    const { clientOf, lotOf } = this.#sources;
    return lotOf(this.#link.link.id, networkOf(clientOf(this.#request)), this.userAgent);
  }
}

/** Decides in this order: is it time, is it unlocked, is a click left, and where to. At once where nobody is waited for. */
export function createFollow(
  options: FollowOptions,
): (request: IncomingMessage, query: string, prepared: PreparedLink, plan: Plan) => Next | Promise<Next> {
  const { capture, addressOf, limits, isPassword, variantKey, now } = options;
  const unlock = createUnlock({ isPassword });
  const clientOf = (request: IncomingMessage): string => unmap(addressOf(request));
  const sources: Sources = {
    capture,
    clientOf,
    now,
    lotOf: createLots(variantKey),
  };

  function go(
    request: IncomingMessage,
    query: string,
    prepared: PreparedLink,
    plan: Plan,
  ): Next | Promise<Next> {
    const { link } = prepared;
    const { maxClicks } = link;
    if (maxClicks === undefined) return plan(new AskedVisit(sources, request, query, prepared));
    const redirect = (isIn: boolean): Next =>
      isIn
        ? plan(new AskedVisit(sources, request, query, prepared))
        : { kind: "answer", answer: answers.gone, outcome: "gone" };
    const isIn = limits.use({ ...link, maxClicks }, capture.isHuman(request, prepared));
    return isIn instanceof Promise ? isIn.then(redirect) : redirect(isIn);
  }

  return (request, query, prepared, plan) => {
    const { id, startsAt, passwordHash } = prepared.link;
    if (startsAt !== undefined && now() < startsAt) return { kind: "not_yet" };
    if (passwordHash === undefined) return go(request, query, prepared, plan);
    if (request.method !== "POST") {
      return { kind: "answer", answer: pages.passwordPage, outcome: "password_asked" };
    }
    return unlock(request, { id, passwordHash }, clientOf(request)).then((unlocking) =>
      unlocking === "open" ? go(request, query, prepared, plan) : refused[unlocking],
    );
  };
}

const tooManyTries = pages.tooManyTries(triesWindowMs / 1_000);

const refused: Readonly<Record<Exclude<Unlocking, "open">, Next>> = {
  wrong: { kind: "answer", answer: pages.wrongPassword, outcome: "password_refused" },
  too_many: { kind: "answer", answer: tooManyTries, outcome: "password_refused" },
  too_large: { kind: "answer", answer: answers.tooLarge, outcome: "bad_request" },
  no_form: { kind: "answer", answer: answers.noForm, outcome: "bad_request" },
  busy: { kind: "answer", answer: answers.unavailable, outcome: "unavailable" },
  left: { kind: "left" },
};
