import type { Pair } from "../deliveries/delivery-store.ts";
import { z } from "zod";
import { checkTargetId } from "../targets/target-id.ts";
import type { TargetId } from "../targets/target.ts";

/** What the column `target` holds. */
export const Target = z.string().transform((text): TargetId => checkTargetId(text));

export const TargetCounts = z.array(z.object({ target: Target, count: z.number() }));
export type TargetCount = z.infer<typeof TargetCounts>[number];

export const Pairs = z.array(
  z
    .object({ event_id: z.string(), target: Target })
    .transform(({ event_id, target }): Pair => ({ eventId: event_id, target })),
);

export function pairColumns(pairs: readonly Pair[]): readonly string[][] {
  return [pairs.map(({ eventId }) => eventId), pairs.map(({ target }) => target)];
}
