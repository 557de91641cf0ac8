import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import { clickOf } from "../click-of.ts";
import type { Delivery } from "../delivery.ts";
import type { Plan, SkipReason } from "./channel.ts";

/** A delivery of a click, its body read. */
export interface Click {
  readonly delivery: Delivery;
  readonly event: ClickEvent;
  readonly enrichment: Enrichment;
}

/** What may go to somebody else's platform, and what may not, by reason. */
export interface Sifted {
  readonly clicks: readonly Click[];
  readonly skipped: Plan["skipped"];
}

/**
 * The clicks among the deliveries that a forwarder or a pixel may send. What every one of them leaves out, whatever the
 * target's filter lets through: what is no click or not a person's, and who asked not to be tracked. `against` says what
 * else speaks against one.
 */
export function sift(
  deliveries: readonly Delivery[],
  against: (click: Click) => SkipReason | undefined = () => undefined,
): Sifted {
  const clicks: Click[] = [];
  const skipped: { delivery: Delivery; reason: SkipReason }[] = [];
  for (const delivery of deliveries) {
    const click = read(delivery);
    const reason = click === undefined ? "no-click" : (generally(click) ?? against(click));
    if (reason !== undefined) skipped.push({ delivery, reason });
    else if (click !== undefined) clicks.push(click);
  }
  return { clicks, skipped };
}

/**
 * Against a click that happened more than `maxAgeMs` ago, or further ahead of our clock than an edge's may be wrong.
 * Mixpanel refuses what is over an hour ahead, the others sooner; up to there `notAfter` helps.
 */
export function wrongAge({ event }: Click, now: number, maxAgeMs: number): SkipReason | undefined {
  if (event.ts < now - maxAgeMs) return "too-old";
  return event.ts > now + 3_600_000 ? "in-future" : undefined;
}

/** When it happened, ms, for a platform that takes no time of the future. */
export function notAfter(now: number, { event }: Click): number {
  return Math.min(event.ts, now);
}

function read(delivery: Delivery): Click | undefined {
  if (delivery.event.type !== "link.clicked") return undefined;
  const decoded = clickOf(delivery.event);
  if (decoded.kind === "undecodable") return undefined;
  return { delivery, event: decoded.event, enrichment: decoded.enrichment };
}

function generally({ event, enrichment }: Click): SkipReason | undefined {
  if (event.gpc) return "no-consent";
  return enrichment.is_bot ? "bot" : undefined;
}
