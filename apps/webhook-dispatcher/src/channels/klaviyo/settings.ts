import { z } from "zod";
import { text } from "../settings.ts";

export const KlaviyoSettings = z.strictObject({
  api_key: text(/^pk_[A-Za-z0-9_]{8,100}$/, "a private API key, which begins with pk_"),
  /** Klaviyo keeps a revision for two years. */
  revision: text(/^20\d\d-(?:01|04|07|10)-15$/, "a revision of the API, such as 2026-07-15").default(
    "2026-07-15",
  ),
  metric: text(/^\S[^\p{Cc}]{0,126}$/u, "the name of a metric, less than 128 characters").default(
    "Clicked Link",
  ),
  identifier: z
    .literal("visitor", { error: "visitor: its hash, new every day, makes an anonymous profile each" })
    .optional(),
});
export type KlaviyoSettings = z.infer<typeof KlaviyoSettings>;
