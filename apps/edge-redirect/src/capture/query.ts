import { clickIdNames, limits } from "@sluice/click-event/click-event.ts";
import { clip } from "@sluice/click-event/clip.ts";

import { flat } from "./flat.ts";

/** Short links carry a handful; more is somebody playing, and is not read. */
const maxParameters = 100;

const utmNames = ["source", "medium", "campaign", "term", "content"] as const;
const none = { source: "", medium: "", campaign: "", term: "", content: "" };
const noUtm = JSON.stringify(none);
const nothing = flat(`"qr":false,"utm":${noUtm},"click_ids":{}`);

interface Kept {
  readonly part: "qr" | "utm" | "click_ids";
  /** What it is called in the event. */
  readonly name: string;
  readonly max: number;
  /** Its place in the set of what has been found. */
  readonly bit: number;
}

const kept = new Map<string, Kept>(
  [
    { parameter: "qr", part: "qr", name: "qr", max: 4 } as const,
    ...utmNames.map((name) => ({ parameter: `utm_${name}`, part: "utm", name, max: limits.utm }) as const),
    ...clickIdNames.map(
      (name) => ({ parameter: name, part: "click_ids", name, max: limits.clickId }) as const,
    ),
  ].map(({ parameter, ...what }, index) => [parameter, { ...what, bit: 1 << index }]),
);

/**
 * The part of a click's JSON that its query string decides: the first value of each parameter that an event keeps,
 * decoded and cut to its limit. Put together by hand, because a third of all clicks have one. Click ids are left out of an
 * untracked visitor's: each is a number for one person's click.
 */
export function encodeQuery(query: string, untracked = false): string {
  if (query === "") return nothing;
  let found = 0;
  let qr = false;
  let utm: Record<string, string> | undefined;
  let clickIds = "";
  for (const pair of query.split("&", maxParameters)) {
    const equals = pair.indexOf("=");
    const known = equals < 1 ? undefined : kept.get(pair.slice(0, equals).toLowerCase());
    if (known === undefined || (found & known.bit) !== 0) continue;
    found |= known.bit;
    const value = clip(decode(pair.slice(equals + 1)), known.max);
    if (known.part === "qr") qr = saysYes.test(value);
    else if (known.part === "utm") (utm ??= { ...none })[known.name] = value;
    else if (value !== "" && !untracked)
      clickIds += `${clickIds && ","}"${known.name}":${JSON.stringify(value)}`;
  }
  return `"qr":${qr},"utm":${utm === undefined ? noUtm : JSON.stringify(utm)},"click_ids":{${clickIds}}`;
}

/** What a QR code's image puts behind the link, as `qr=1`. */
const saysYes = /^(?:1|true)$/i;

/** As a form means it. What is not decodable is kept as it came: it says more about a campaign than nothing. */
function decode(value: string): string {
  const spaced = value.includes("+") ? value.replaceAll("+", " ") : value;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
