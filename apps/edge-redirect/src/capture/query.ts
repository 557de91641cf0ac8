import { clickIdNames, limits } from "@sluice/click-event/click-event.ts";
import { clip } from "@sluice/click-event/clip.ts";

/** The part of a click's JSON that its query string decides. */
export function encodeQuery(query: string): string {
  return query === "" ? nothing : encodeFound(find(query));
}

const utmNames = ["source", "medium", "campaign", "term", "content"] as const;
/** Short links carry a handful; more is somebody playing, and is not read. */
const maxParameters = 100;

const kept = new Map<string, number>([
  ["qr", 16],
  ...utmNames.map((name): [string, number] => [`utm_${name}`, limits.utm]),
  ...clickIdNames.map((name): [string, number] => [name, limits.clickId]),
]);

/** The first value of each parameter that an event keeps, decoded and cut to its limit. */
function find(query: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const pair of query.split("&", maxParameters)) {
    const equals = pair.indexOf("=");
    if (equals < 1) continue;
    const name = pair.slice(0, equals).toLowerCase();
    const max = kept.get(name);
    if (max !== undefined && !found.has(name)) found.set(name, clip(decode(pair.slice(equals + 1)), max));
  }
  return found;
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

function encodeFound(found: ReadonlyMap<string, string>): string {
  const utm = Object.fromEntries(utmNames.map((name) => [name, found.get(`utm_${name}`) ?? ""]));
  const clickIds: Record<string, string> = {};
  for (const name of clickIdNames) {
    const value = found.get(name);
    if (value !== undefined && value !== "") clickIds[name] = value;
  }
  const qr = found.get("qr");
  return JSON.stringify({ qr: qr === "1" || qr === "true", utm, click_ids: clickIds }).slice(1, -1);
}

const nothing = encodeFound(new Map());
