import { botReasons } from "@sluice/click-event/bot.ts";
import type { Link } from "@sluice/link-store/link-store.ts";

import type { ClickedLink } from "../capture/capture.ts";
import { encodeLink } from "../capture/encode-click.ts";
import { isScannerPath } from "../capture/scanner-paths.ts";
import { createRecent } from "../recent.ts";
import { type Answer, redirectTo } from "./answers.ts";

/** What is made once of a link, for all its clicks. */
export interface PreparedLink extends ClickedLink {
  /** The very object that it was made of: a link that was changed is another one. */
  readonly link: Link;
  readonly answer: Answer;
}

/** Those that are in use; about 1 kB each. */
const maxPrepared = 10_000;

/** Remembers by the link's id: a WeakMap takes three times as long. */
export function createPreparedLinks(): (link: Link) => PreparedLink {
  const prepared = createRecent<number, PreparedLink>(maxPrepared);
  return (link) => {
    const known = prepared.get(link.id);
    if (known?.link === link) return known;
    const made = {
      link,
      answer: redirectTo(link),
      workspaceId: link.workspaceId,
      json: encodeLink(link),
      bot: isScannerPath(link.slug) ? botReasons.scanner.bit : 0,
    };
    prepared.set(link.id, made);
    return made;
  };
}
