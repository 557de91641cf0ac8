import { z } from "zod";
import { text } from "../settings.ts";

export const MetaSettings = z.strictObject({
  pixel_id: text(/^\d{5,20}$/, "the number of a pixel or data set"),
  access_token: text(/^[A-Za-z0-9_|.-]{20,1000}$/, "an access token"),
  app_secret: text(/^[0-9a-f]{32}$/, "the secret of an app, 32 hex digits").optional(),
  event_name: text(/^[A-Za-z][A-Za-z0-9_ ]{0,49}$/, "an event name of at most 50 characters").default(
    "PageView",
  ),
  /** Whoever leaves it in loses every event into the test view. */
  test_event_code: z.never({ error: "nothing: with it, no event would count" }).optional(),
});
export type MetaSettings = z.infer<typeof MetaSettings>;
