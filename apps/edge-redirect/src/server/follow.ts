import type { IncomingMessage } from "node:http";

import type { Capture, Identity } from "../capture/capture.ts";
import { firstLanguage } from "../capture/language.ts";
import { networkOf } from "../capture/visitor-hash.ts";
import { unmap } from "../client/address.ts";
import type { ClientAddress } from "../client/client-address.ts";
import { createEquipmentReader, type Equipment } from "../rules/equipment.ts";
import type { VisitFacts } from "../rules/target-rule.ts";
import { createLots } from "../rules/variant.ts";
import * as answers from "./answers.ts";
import type { ClickLimits } from "./click-limits.ts";
import type { Outcome } from "./metrics.ts";
import * as pages from "./pages.ts";
import type { Plan, Redirection } from "./plan.ts";
import type { PreparedLink } from "./prepared-links.ts";
import { createUnlock, triesWindowMs, type UnlockOptions, type Unlocking } from "./unlock.ts";

export interface FollowOptions {
  readonly capture: Pick<Capture, "identify">;
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
  | { readonly kind: "redirect"; readonly to: Redirection }
  | { readonly kind: "answer"; readonly answer: answers.Answer; readonly outcome: Outcome }
  /** As if there were no such link. */
  | { readonly kind: "not_yet" }
  | { readonly kind: "left" };

/** Decides in this order: is it time, is it unlocked, is a click left, and where to. At once where nobody is waited for. */
export function createFollow(
  options: FollowOptions,
): (request: IncomingMessage, query: string, prepared: PreparedLink, plan: Plan) => Next | Promise<Next> {
  const { capture, addressOf, limits, isPassword, variantKey, now } = options;
  const unlock = createUnlock({ isPassword });
  const readEquipment = createEquipmentReader();
  const lotOf = createLots(variantKey);
  const clientOf = (request: IncomingMessage): string => unmap(addressOf(request));

  function factsOf(request: IncomingMessage, prepared: PreparedLink): VisitFacts {
    const { headers } = request;
    let place: Identity["visitor"] | undefined;
    let equipment: Equipment | undefined;
    let language: string | undefined;
    return {
      now: now(),
      place: () => (place ??= capture.identify(request, prepared).visitor),
      equipment: () => (equipment ??= readEquipment(headers)),
      language: () => (language ??= firstLanguage(headers["accept-language"] ?? "").toLowerCase()),
      lot: () => lotOf(prepared.link.id, networkOf(clientOf(request)), headers["user-agent"] ?? ""),
    };
  }

  function go(
    request: IncomingMessage,
    query: string,
    prepared: PreparedLink,
    plan: Plan,
  ): Next | Promise<Next> {
    const redirect = (isIn: boolean): Next => {
      if (!isIn) return { kind: "answer", answer: answers.gone, outcome: "gone" };
      const facts = factsOf(request, prepared);
      const userAgent = request.headers["user-agent"] ?? "";
      const posted = request.method === "POST";
      return { kind: "redirect", to: plan({ facts, query, userAgent, posted }) };
    };
    const { id, maxClicks } = prepared.link;
    if (maxClicks === undefined) return redirect(true);
    const isIn = limits.use(id, maxClicks, capture.identify(request, prepared).human);
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
