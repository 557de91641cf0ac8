/**
 * Why a click is not taken for a person's. Each reason is a bit of an event's `bot`, so that several can be true; they
 * are stored, so a bit never changes its meaning. `docs/counting.md` shows this table to those who read the clicks.
 */
export const botReasons = {
  no_agent: { bit: 1, meaning: "it names no user agent, as every browser does" },
  preview: { bit: 2, meaning: "a messenger, mail program or network that shows a preview of a link" },
  crawler: { bit: 4, meaning: "a user agent that says it is a program: crawlers, monitors, scripts" },
  data_centre: { bit: 8, meaning: "its network belongs to a hosting or cloud provider" },
  spam_referrer: { bit: 16, meaning: "it says to come from a site that is advertised by such visits" },
  scanner: { bit: 32, meaning: "the link has the path of a file that scanners look for" },
} as const;

/**
 * Whether a person followed the link, as far as one can tell. The one rule for what uses up a limit of clicks and for
 * what statistics count: no reason against it, not fetched ahead of its user, and not a HEAD, which opens nothing.
 */
export function isHuman(bot: number, prefetch: boolean, method: "GET" | "HEAD"): boolean {
  return bot === 0 && !prefetch && method === "GET";
}
