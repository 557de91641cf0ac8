import { randomUUID } from "node:crypto";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";

/** A new UUID of version 7 in form; its time is of no interest here. */
export function uuidv7(): string {
  const uuid = randomUUID();
  return `${uuid.slice(0, 14)}7${uuid.slice(15)}`;
}

/** Its time is in it, as a run's is. */
export function runAt(ms: number, number: number): string {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(number).padStart(12, "0")}`;
}

/** `count` clicks of one run, numbered from `fromSeq` (1), a millisecond apart. */
export function eventsOf(
  run: string,
  count: number,
  { fromSeq = 1, ...changes }: Partial<ClickEvent> & { fromSeq?: number } = {},
): ClickEvent[] {
  const firstTs = changes.ts ?? sampleClick().ts;
  return Array.from({ length: count }, (_, index) =>
    sampleClick({
      ...changes,
      event_id: uuidv7(),
      edge_run: run,
      edge_seq: fromSeq + index,
      ts: firstTs + index,
    }),
  );
}

export const enrichment: Enrichment = {
  browser: "Chrome",
  browser_version: "126",
  os: "Windows",
  os_version: "10",
  device: "desktop",
  referrer_channel: "search",
  is_bot: false,
};

/** Numbers from 0 up to 1, the same ones each time (a linear congruential generator). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
