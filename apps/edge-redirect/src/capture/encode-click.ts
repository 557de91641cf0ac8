import type { Link } from "@sluice/link-store/link-store.ts";

import { flat } from "./flat.ts";

/**
 * A click's JSON is put together from parts, most of which are encoded once for many clicks: as an object through
 * `JSON.stringify` it would take three times as long. `encode-click.test.ts` holds it to the schema.
 */
export interface ClickParts {
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

/** What makes an event of it. */
export interface ClickPlace {
  readonly eventId: string;
  readonly ts: number;
  /** `encodePlace`, or nothing where it has no place in a run yet. */
  readonly place: string;
}

export function encodeClickParts(click: ClickParts, { eventId, ts, place }: ClickPlace): string {
  return `{"v":1,"event_id":"${eventId}",${place}"ts":${ts},${click.link},${click.visitor},"language":"${click.language}","bot":${click.bot},"method":"${click.method}","referrer_domain":"${click.referrerDomain}","prefetch":${click.prefetch},${click.query}}`;
}

/** `run` is `encodeRun` of it. */
export function encodePlace(run: string, seq: number): string {
  return `${run},"edge_seq":${seq},`;
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
