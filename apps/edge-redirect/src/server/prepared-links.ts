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
  /** About as much memory as it takes. */
  readonly bytes: number;
}

/**
 * Remembers by the link's id: a WeakMap takes three times as long. Up to `maxBytes`, and as many again; too few for the links
 * in use cost more than all the rest of a visit, because they are made again and again.
 */
export function createPreparedLinks(maxBytes: number): (link: Link) => PreparedLink {
  const prepared = createRecent<number, PreparedLink>(maxBytes, ({ bytes }) => bytes);
  return (link) => {
    const known = prepared.get(link.id);
    if (known?.link === link) return known;
    const made = {
      ...clickedLink(link),
      link,
      answer: redirectTo(compileLocation(link.destination, link)("", ""), link),
      plan: needsPlan(link) ? compilePlan(link) : undefined,
      // The link itself, and of each destination an event's part and a header.
      bytes: 1_000 + 4 * JSON.stringify(link).length,
    };
    prepared.set(link.id, made);
    return made;
  };
}
