import { z } from "zod";
import { auditModes } from "./audit-store.ts";
import { Instant, LinkOptionsSchema } from "./link-options-schema.ts";
import type { Link } from "./link-store.ts";

type Part = Exclude<keyof Link, keyof typeof LinkOptionsSchema.shape>;

const parts = {
  id: z.int().min(1),
  workspaceId: z.int().min(1),
  audit: z.exactOptional(z.enum(auditModes)),
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
} satisfies Record<Part, z.ZodType>;

/**
 * A link as JSON, for whoever keeps one outside of Postgres. Strict: without a part that this version does not know,
 * such as a password, it would be another link.
 */
export const StoredLink: z.ZodType<Link> = LinkOptionsSchema.extend({
  ...parts,
  /** One that the store could not read is none that anybody knows, and stays so. */
  passwordHash: z.exactOptional(z.string()),
});
