import { clickIdNames, limits } from "@sluice/click-event/click-event.ts";
import { clip } from "@sluice/click-event/clip.ts";

import { flat } from "./flat.ts";

/** Short links carry a handful; more is somebody playing, and is not read. */
const maxParameters = 100;

const utmNames = ["source", "medium", "campaign", "term", "content"] as const;
const none = { source: "", medium: "", campaign: "", term: "", content: "" };
const noUtm = JSON.stringify(none);
const nothing = flat(`"qr":false,"utm":${noUtm},"click_ids":{}`);

/** By parameter: what it is called in the event, and how much of it is kept. */
const kept = new Map<
  string,
  { readonly part: "qr" | "utm" | "click_ids"; readonly name: string; readonly max: number }
>([
  ["qr", { part: "qr", name: "qr", max: 4 }],
  ...utmNames.map((name) => [`utm_${name}`, { part: "utm", name, max: limits.utm }] as const),
  ...clickIdNames.map((name) => [name, { part: "click_ids", name, max: limits.clickId }] as const),
]);

/**
 * The part of a click's JSON that its query string decides: the first value of each parameter that an event keeps,
 * decoded and cut to its limit. Put together by hand, because a third of all clicks have one.
 */
export function encodeQuery(query: string): string {
  if (query === "") return nothing;
  const found = new Map<string, string>();
  let utm: Record<string, string> | undefined;
  let clickIds = "";
  for (const pair of query.split("&", maxParameters)) {
    const equals = pair.indexOf("=");
    const known = equals < 1 ? undefined : kept.get(pair.slice(0, equals).toLowerCase());
    if (known === undefined || found.has(known.name)) continue;
    const value = clip(decode(pair.slice(equals + 1)), known.max);
    found.set(known.name, value);
    if (known.part === "utm") (utm ??= { ...none })[known.name] = value;
    else if (known.part === "click_ids" && value !== "") {
      clickIds += `${clickIds === "" ? "" : ","}"${known.name}":${JSON.stringify(value)}`;
    }
  }
  const qr = found.get("qr");
  const utmJson = utm === undefined ? noUtm : JSON.stringify(utm);
  return `"qr":${qr === "1" || qr === "true"},"utm":${utmJson},"click_ids":{${clickIds}}`;
}

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
