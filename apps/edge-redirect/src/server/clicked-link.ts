import { botReasons } from "@sluice/click-event/bot.ts";
import type { Link } from "@sluice/link-store/link-store.ts";

import type { ClickedLink } from "../capture/capture.ts";
import { encodeLink } from "../capture/encode-click.ts";
import { isScannerPath } from "../capture/scanner-paths.ts";

/** A link as its clicks name it: with the destination and the number of the variant to which it has led. */
export function clickedLink(link: Link, destination = link.destination, variant = 0): ClickedLink {
  return {
    workspaceId: link.workspaceId,
    linkId: link.id,
    audit: link.audit,
    json: encodeLink({ ...link, destination }, variant),
    bot: isScannerPath(link.slug) ? botReasons.scanner.bit : 0,
  };
}
