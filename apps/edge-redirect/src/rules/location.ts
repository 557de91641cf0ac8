import type { LinkOptions } from "@sluice/link-store/link-options.ts";

import { appendQuery, namesIn, passable } from "./append-query.ts";

export const isWeb = (url: string): boolean => /^https?:/i.test(url);

/**
 * A destination with what the link appends to it: the visitor's query, the UTM tags that are in neither, and the
 * click's id. Apps and mail programs read their URLs in ways of their own: those stay as they are.
 */
export function compileLocation(
  destination: string,
  { passQuery, utm = {}, trackConversions }: LinkOptions,
): (query: string, eventId: string) => string {
  if (!isWeb(destination)) return () => destination;
  const own = namesIn(destination);
  const tags = Object.entries(utm)
    .map(([name, value]) => ({ name: `utm_${name}`, value: encodeURIComponent(value.toWellFormed()) }))
    .filter(({ name }) => !own.has(name));
  return (query, eventId) => {
    const passed = passQuery === true ? passable(query) : "";
    const sent = passed === "" ? own : namesIn(`?${passed}`);
    const pairs = tags.flatMap(({ name, value }) => (sent.has(name) ? [] : [`${name}=${value}`]));
    if (passed !== "") pairs.unshift(passed);
    if (trackConversions === true && eventId !== "") pairs.push(`sluice_id=${eventId}`);
    return appendQuery(destination, pairs.join("&"));
  };
}
