import { type ClickEvent, clickIdNames } from "./click-event.ts";

/**
 * Where a click came from, coarsely. `campaign`: marked by utm parameters, and nothing else is known. `internal`: from
 * a page of the short link's own domain, such as a list of links that fetches them again and again.
 */
export const channels = [
  "direct",
  "search",
  "social",
  "email",
  "paid",
  "affiliate",
  "referral",
  "campaign",
  "internal",
] as const;
export type Channel = (typeof channels)[number];

/** What the marketer says comes first, then the ad network's click id, then the referrer. */
export function channelOf(
  event: Pick<ClickEvent, "domain" | "utm" | "click_ids" | "referrer_domain">,
): Channel {
  const { utm, click_ids: ids, referrer_domain: referrer } = event;
  const said = utm.medium === "" ? undefined : mediums.find(([medium]) => medium.test(utm.medium.trim()));
  if (said !== undefined) return said[1];
  if (paidIds.some((name) => ids[name] !== undefined)) return "paid";
  if (referrer !== "") return referrer === event.domain ? "internal" : channelOfReferrer(referrer);
  if (ids.fbclid !== undefined) return "social";
  return utm.source !== "" || utm.medium !== "" || utm.campaign !== "" ? "campaign" : "direct";
}

/** Facebook adds its id to every link, paid for or not; the others mark advertisements alone. */
const paidIds = clickIdNames.filter((name) => name !== "fbclid");

const mediums: readonly (readonly [RegExp, Channel])[] = [
  [/^(?:cp[acmv]|pp[cv]|paid.*|.*paid|ads?|display|banner|retargeting|remarketing|sem)$/i, "paid"],
  [/^(?:e-?mail|newsletter)$/i, "email"],
  [/^(?:social.*|sm)$/i, "social"],
  [/^(?:organic|seo)$/i, "search"],
  [/^affiliates?$/i, "affiliate"],
];

/** By the host, or by the identifier of an Android app; a name stands for all names below it. */
function channelOfReferrer(referrer: string): Channel {
  const host = referrer.toLowerCase();
  for (let name = host; name !== ""; name = parent(name)) {
    const channel = referrers.get(name);
    if (channel !== undefined) return channel;
  }
  return engineOfManyCountries.test(host) ? "search" : "referral";
}

function parent(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

const engineOfManyCountries = /(?:^|\.)(?:google|yahoo|yandex)\.[a-z]{2,3}(?:\.[a-z]{2})?$/;

const referrers = new Map<string, Channel>([
  ...named("email", [
    "mail.google.com",
    "com.google.android.gm",
    "mail.yahoo.com",
    "outlook.live.com",
    "outlook.office.com",
    "outlook.office365.com",
    "mail.proton.me",
    "mail.ru",
    "com.microsoft.office.outlook",
  ]),
  ...named("social", [
    "facebook.com",
    "fb.com",
    "messenger.com",
    "instagram.com",
    "threads.net",
    "threads.com",
    "twitter.com",
    "x.com",
    "t.co",
    "linkedin.com",
    "lnkd.in",
    "pinterest.com",
    "com.pinterest",
    "reddit.com",
    "tiktok.com",
    "youtube.com",
    "youtu.be",
    "whatsapp.com",
    "com.whatsapp",
    "web.telegram.org",
    "t.me",
    "org.telegram.messenger",
    "snapchat.com",
    "tumblr.com",
    "vk.com",
    "ok.ru",
    "weibo.com",
    "bsky.app",
    "mastodon.social",
    "discord.com",
    "slack.com",
    "com.slack",
    "quora.com",
    "news.ycombinator.com",
    "com.facebook.katana",
    "com.twitter.android",
    "com.linkedin.android",
    "com.reddit.frontpage",
    "com.instagram.android",
  ]),
  ...named("search", [
    "com.google.android.googlequicksearchbox",
    "bing.com",
    "duckduckgo.com",
    "ecosia.org",
    "baidu.com",
    "naver.com",
    "qwant.com",
    "startpage.com",
    "search.brave.com",
    "kagi.com",
    "seznam.cz",
    "sogou.com",
    "so.com",
    "ask.com",
    "ya.ru",
  ]),
]);

function named(channel: Channel, names: readonly string[]): [string, Channel][] {
  return names.map((name) => [name, channel]);
}
