import { botReasons } from "@sluice/click-event/bot.ts";

/**
 * All that clicks can be told apart by. A click has one value of each, as text, or none where the text is empty:
 *
 * - `variant`: its number from 1; the link's own destination is none
 * - `qr`: `yes` or none
 * - `bot_reason`: any number of `botReasonNames`
 */
export const dimensions = [
  "country",
  "region",
  "city",
  "referrer_domain",
  "referrer_channel",
  "browser",
  "os",
  "device",
  "language",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "destination",
  "variant",
  "qr",
  "bot_reason",
] as const;

export type Dimension = (typeof dimensions)[number];

/** Why a click is not a person's: the bits of `bot`, and what has a column of its own. */
export const botReasonNames = [...Object.keys(botReasons), "prefetch", "head"];
