import type { Link } from "@sluice/link-store/link-store.ts";

import type { ClickedLink } from "../capture/capture.ts";
import { encodeLink } from "../capture/encode-click.ts";
import { type Answer, redirectTo } from "./answers.ts";

/** What is made once of a link, for all its clicks. */
export interface PreparedLink extends ClickedLink {
  readonly answer: Answer;
  readonly expiresAt: number | undefined;
  readonly disabled: boolean;
}

/** Remembers for as long as the cache of links holds on to the very object. */
export function createPreparedLinks(): (link: Link) => PreparedLink {
  const prepared = new WeakMap<Link, PreparedLink>();
  return (link) => {
    const known = prepared.get(link);
    if (known !== undefined) return known;
    const { workspaceId, disabled, expiresAt } = link;
    const made = { answer: redirectTo(link), workspaceId, json: encodeLink(link), expiresAt, disabled };
    prepared.set(link, made);
    return made;
  };
}
