import type { Link } from "@sluice/link-store/link-store.ts";

import { flat } from "./flat.ts";

/**
 * A click's JSON is put together from parts, most of which are encoded once for many clicks: as an object through
 * `JSON.stringify` it would take three times as long. `encode-click.test.ts` holds it to the schema.
 */
export interface ClickParts {
  readonly eventId: string;
  readonly run: string;
  readonly seq: number;
  readonly ts: number;
  readonly link: string;
  readonly visitor: string;
  /** Plain characters only. */
  readonly language: string;
  /** Bits of `botReasons`. */
  readonly bot: number;
  readonly query: string;
  readonly method: "GET" | "HEAD";
  /** Plain characters only. */
  readonly referrerDomain: string;
  readonly prefetch: boolean;
}

export function encodeClickParts(click: ClickParts): string {
  return `{"v":1,"event_id":"${click.eventId}",${click.run},"edge_seq":${click.seq},"ts":${click.ts},${click.link},${click.visitor},"language":"${click.language}","bot":${click.bot},"method":"${click.method}","referrer_domain":"${click.referrerDomain}","prefetch":${click.prefetch},${click.query}}`;
}

/** The part that is the same for all clicks of a run. */
export function encodeRun(edge: string, run: string): string {
  return flat(JSON.stringify({ edge, edge_run: run }).slice(1, -1));
}

/** The part that is the same for all clicks that a link sends the same way. */
export function encodeLink(link: Link, variant = 0): string {
  const fields = {
    workspace_id: link.workspaceId,
    link_id: link.id,
    domain: link.domain,
    slug: link.slug,
    destination: link.destination,
    status: link.status,
    variant,
  };
  return flat(JSON.stringify(fields).slice(1, -1));
}
