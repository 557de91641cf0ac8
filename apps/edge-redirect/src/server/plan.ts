import type { Link } from "@sluice/link-store/link-store.ts";

import type { ClickedLink } from "../capture/capture.ts";
import { intentOf, wayIntoApp } from "../rules/app-link.ts";
import { compileChoice } from "../rules/choose.ts";
import { compileLocation } from "../rules/location.ts";
import type { VisitFacts } from "../rules/target-rule.ts";
import { type Answer, redirectAfterForm, redirectTo } from "./answers.ts";
import { clickedLink } from "./clicked-link.ts";
import { appPage } from "./pages.ts";

/** Where a link takes a visit. */
export interface Redirection {
  readonly kind: "redirect";
  readonly clicked: ClickedLink;
  /** A function where it depends on the click. */
  readonly answer: Answer | ((eventId: string) => Answer);
}

export interface PlannedVisit extends VisitFacts {
  readonly query: string;
  readonly userAgent: string;
  /** Whether it comes with a password's form. */
  readonly posted: boolean;
}

export type Plan = (visit: PlannedVisit) => Redirection;

/** Whether what becomes of a visit depends on the visit, and not on the link alone. */
export function needsPlan(link: Link): boolean {
  const { startsAt, maxClicks, passwordHash, rules, variants, apps, passQuery, trackConversions } = link;
  const parts = [startsAt, maxClicks, passwordHash, rules, variants, apps, passQuery, trackConversions];
  return parts.some((part) => part !== undefined);
}

interface Leg {
  /** As it is stored, and as the event names it: what a visitor's query adds is theirs, and endless. */
  readonly destination: string;
  readonly clicked: ClickedLink;
  readonly location: (query: string, eventId: string) => string;
  /** Where it is the same for all. */
  readonly fixed: Redirection | undefined;
}

/** Prepares all ways of a link once. */
export function compilePlan(link: Link): Plan {
  const isFixed = link.passQuery === undefined && link.trackConversions === undefined;

  function prepareLeg(destination: string, variant: number): Leg {
    const location = compileLocation(destination, link);
    const clicked = clickedLink(link, destination, variant);
    return {
      destination,
      clicked,
      location,
      fixed: isFixed ? { kind: "redirect", clicked, answer: redirectTo(location("", ""), link) } : undefined,
    };
  }
  const choose = compileChoice(link, ({ destination, variant, triesApp }) => {
    const { ios, android } = (triesApp && link.apps) || {};
    return {
      web: prepareLeg(destination, variant),
      ios: ios === undefined ? undefined : prepareLeg(ios, variant),
      android: android === undefined ? undefined : prepareLeg(android, variant),
    };
  });

  function to({ clicked, location, fixed }: Leg, { query, posted }: PlannedVisit): Redirection {
    if (fixed !== undefined && !posted) return fixed;
    const redirect = posted ? redirectAfterForm : redirectTo;
    return { kind: "redirect", clicked, answer: (eventId) => redirect(location(query, eventId), link) };
  }

  return (visit) => {
    const way = choose(visit);
    const system = way.ios === undefined && way.android === undefined ? undefined : visit.equipment().system;
    if (system !== "ios" && system !== "android") return to(way.web, visit);
    const app = way[system];
    if (app === undefined) return to(way.web, visit);
    const into = wayIntoApp(system, app.destination, visit.userAgent);
    if (into === "web") return to(way.web, visit);
    if (into === "redirect") return to(app, visit);
    return {
      kind: "redirect",
      clicked: app.clicked,
      answer(eventId) {
        const web = way.web.location(visit.query, eventId);
        if (into === "page") return appPage(app.destination, web);
        const intent = intentOf(app.destination, web);
        return visit.posted ? redirectAfterForm(intent, link) : redirectTo(intent, link);
      },
    };
  };
}
