import { z } from "zod";
import { checkTargetId } from "../targets/target-id.ts";
import type { TargetId } from "../targets/target.ts";

/** What the column `target` holds. */
export const Target = z.string().transform((text): TargetId => checkTargetId(text));

export const TargetCounts = z.array(z.object({ target: Target, count: z.number() }));
export type TargetCount = z.infer<typeof TargetCounts>[number];
