import type { Link } from "@sluice/link-store/link-store.ts";
import { LRUCache } from "lru-cache";

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

/** Those that are in use; about 1 kB each. */
const maxPrepared = 10_000;
/** Of those with a plan: with 50 rules one can take megabytes. */
const maxPlannedBytes = 64 * 1024 ** 2;

/** Remembers by the link's id: a WeakMap takes three times as long. */
export function createPreparedLinks(): (link: Link) => PreparedLink {
  const plain = createRecent<number, PreparedLink>(maxPrepared);
  const planned = new LRUCache<number, PreparedLink>({ maxSize: maxPlannedBytes, sizeCalculation: bytesOf });
  return (link) => {
    const known = plain.get(link.id);
    if (known?.link === link) return known;
    const withPlan = planned.get(link.id);
    if (withPlan?.link === link) return withPlan;
    const made = {
      ...clickedLink(link),
      link,
      answer: redirectTo(compileLocation(link.destination, link)("", ""), link),
      plan: needsPlan(link) ? compilePlan(link) : undefined,
    };
    (made.plan === undefined ? plain : planned).set(link.id, made);
    return made;
  };
}

/** The link itself, and of each destination an event's part and a header. */
function bytesOf({ link }: PreparedLink): number {
  return 2_000 + 4 * JSON.stringify(link).length;
}
