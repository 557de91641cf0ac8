import { z } from "zod";
import { ClickEvent } from "./click-event.ts";
import { explained, parseRecord, type Undecodable } from "./decode.ts";
import { Enrichment } from "./enrich.ts";
import { exactly } from "./exactly.ts";

export interface EnrichedClick {
  readonly kind: "enriched-click";
  readonly event: ClickEvent;
  readonly enrichment: Enrichment;
  /** It is given again, or late, so that nobody is to act on it as on news. */
  readonly replayed?: true;
}

/**
 * What a record of `clicks.fanout` says, as bytes or as the text that they spell. As `decodeRecord`: never throws, never
 * gives a part, leaves out what this version does not know. A click without its `enrichment` is undecodable.
 */
export function decodeEnriched(record: Uint8Array | string): EnrichedClick | Undecodable {
  const parsed = parseRecord(record);
  if (parsed.kind === "undecodable") return parsed;
  if (isEnriched(parsed.value)) return apart(parsed.value);
  const { success, data, error } = Enriched.safeParse(parsed.value);
  return success ? apart(data) : explained(error, parsed.value);
}

const Enriched = ClickEvent.extend({ enrichment: Enrichment, replayed: z.exactOptional(z.literal(true)) });
const isEnriched = exactly(Enriched);

function apart({ enrichment, replayed, ...event }: z.infer<typeof Enriched>): EnrichedClick {
  return { kind: "enriched-click", event, enrichment, ...(replayed && { replayed }) };
}
