import { z } from "zod";
import { text } from "../settings.ts";

const eventNames =
  "an event name of at most 40 letters, digits and _ that begins with a letter and is not one of Google's own";

export const Ga4Settings = z.strictObject({
  measurement_id: text(/^G-[A-Z0-9]{4,20}$/, "a measurement ID, such as G-AB12CD34EF"),
  api_secret: text(
    /^[A-Za-z0-9_-]{8,100}$/,
    "an API secret of the Measurement Protocol, 8 to 100 characters",
  ),
  event_name: text(/^[A-Za-z][A-Za-z0-9_]{0,39}$/, eventNames)
    .refine((name) => !reserved.has(name) && !/^(?:firebase_|ga_|google_)/.test(name), { error: eventNames })
    .default("link_click"),
  region: z.enum(["global", "eu"], { error: "global or eu" }).default("global"),
});
export type Ga4Settings = z.infer<typeof Ga4Settings>;

/** Those that Google keeps for itself, and those that only streams of apps take. */
const reserved = new Set(
  `ad_activeview ad_click ad_exposure ad_impression ad_query ad_reward adunit_exposure app_clear_data app_exception
  app_install app_remove app_store_refund app_update app_upgrade dynamic_link_app_open dynamic_link_app_update
  dynamic_link_first_open error first_open first_visit in_app_purchase notification_dismiss notification_foreground
  notification_open notification_receive notification_send os_update screen_view session_start user_engagement`.split(
    /\s+/,
  ),
);
