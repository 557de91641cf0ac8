import { botReasons } from "@sluice/click-event/bot.ts";
import type { Dimension } from "../../statistics/dimensions.ts";

/** The values of a row of `clicks`, as expressions that are texts, empty for none. Not built from any input. */
export const valuesOf: Readonly<Record<Dimension, readonly string[]>> = {
  country: ["country"],
  region: ["region"],
  city: ["city"],
  referrer_domain: ["referrer_domain"],
  referrer_channel: ["referrer_channel"],
  browser: ["browser"],
  os: ["os"],
  device: ["device"],
  language: ["language"],
  utm_source: ["utm_source"],
  utm_medium: ["utm_medium"],
  utm_campaign: ["utm_campaign"],
  utm_term: ["utm_term"],
  utm_content: ["utm_content"],
  destination: ["destination"],
  variant: ["if(variant = 0, '', toString(variant))"],
  qr: ["if(qr, 'yes', '')"],
  bot_reason: [
    ...Object.entries(botReasons).map(([name, { bit }]) => `if(bitAnd(bot, ${bit}) != 0, '${name}', '')`),
    "if(prefetch, 'prefetch', '')",
    "if(method = 'HEAD', 'head', '')",
  ],
};

/** What a count consists of, over rows of `clicks`. */
export const countsOfRows = `countIf(NOT is_bot) AS people, countIf(is_bot) AS others,
  uniqCombined64StateIf(14)(toString(visitor), NOT is_bot AND visitor != '') AS seen`;

/**
 * For queries that read some hours of `clicks`. Without it all of a day is read, to be sure that no repeat of what the
 * index `by_time` has found is missed; but a repeat has the same `ts`, and so the index finds it as well.
 */
export const byTime = "use_skip_indexes_if_final_exact_mode = 0";
