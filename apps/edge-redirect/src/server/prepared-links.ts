import type { Link } from "@sluice/link-store/link-store.ts";

import type { ClickedLink } from "../capture/capture.ts";
import { compileLocation } from "../rules/location.ts";
import { createRecent } from "../recent.ts";
import { type Answer, redirectTo } from "./answers.ts";
import { clickedLink } from "./clicked-link.ts";
import { compilePlan, needsPlan, type Plan } from "./plan.ts";

/** What is made once of a link, for all its clicks. */
export interface PreparedLink extends ClickedLink {
  /** The very object that it was made of: a link that was changed is another one. */
  readonly link: Link;
  /** Where the link is the same for all. */
  readonly answer: Answer;
  /** Where it is not. */
  readonly plan: Plan | undefined;
}

/** Those that are in use; about 1 kB each, of those with a plan as much for each destination. */
const maxPrepared = 10_000;

/** Remembers by the link's id: a WeakMap takes three times as long. */
export function createPreparedLinks(): (link: Link) => PreparedLink {
  const prepared = createRecent<number, PreparedLink>(maxPrepared);
  return (link) => {
    const known = prepared.get(link.id);
    if (known?.link === link) return known;
    const made = {
      ...clickedLink(link),
      link,
      answer: redirectTo(compileLocation(link.destination, link)("", ""), link),
      plan: needsPlan(link) ? compilePlan(link) : undefined,
    };
    prepared.set(link.id, made);
    return made;
  };
}
