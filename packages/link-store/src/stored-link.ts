import { z } from "zod";
import { Instant, LinkOptionsSchema } from "./link-options-schema.ts";
import type { Link } from "./link-store.ts";

/** A link as JSON, for whoever keeps one outside of Postgres. A field that this version does not know is refused. */
export const StoredLink: z.ZodType<Link> = LinkOptionsSchema.extend({
  id: z.int().min(1),
  workspaceId: z.int().min(1),
  domain: z.string().min(1),
  slug: z.string().min(1),
  /** What a Location header takes. */
  destination: z
    .string()
    .max(16_384)
    .regex(/^[\x21-\x7e]+$/),
  status: z.literal([301, 302, 307, 308]),
  expiresAt: z.exactOptional(Instant),
  disabled: z.boolean(),
});
