import { pick, pickSkewed, type Random } from "./random.ts";

/** What a browser says of itself and of where its visitor comes from. */
export interface Visitor {
  readonly userAgent: string;
  /** The `sec-ch-ua` headers, in the event's names; none but Chromium's kin send them. */
  readonly hints: Readonly<Record<string, string>>;
  readonly acceptLanguage: string;
  /** Empty for a direct visit. */
  readonly referrer: string;
  /** The query that a campaign or an ad network has put behind the short link, or empty. */
  readonly query: string;
}

/** Visitors as public sites see them: mostly phones, a few hundred user agents, half of them without a referrer. */
export function createVisitors(random: Random): () => Visitor {
  const browsers = agents();
  return () => ({
    ...pickSkewed(random, browsers),
    acceptLanguage: pickSkewed(random, languages),
    referrer: random() < 0.5 ? "" : pickSkewed(random, referrers),
    query: random() < 0.7 ? "" : pick(random, queries)(mint(random)),
  });
}

type Agent = Pick<Visitor, "userAgent" | "hints">;

const plain = (userAgent: string): Agent => ({ userAgent, hints: {} });

/** The most used first; each family in several versions, as they are at any time. */
function agents(): Agent[] {
  const found: Agent[] = [];
  for (let age = 0; age < 24; age += 1) {
    const chrome = 148 - age;
    const apple = `${18 - Math.floor(age / 6)}.${6 - (age % 6)}`;
    const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
    const chromeOn = (system: string, platform: string, mobile: string, tail = "") => ({
      userAgent: `Mozilla/5.0 (${system}) ${webkit} Chrome/${chrome}.0.0.0${mobile === "?1" ? " Mobile" : ""} Safari/537.36${tail}`,
      hints: {
        brands: `"Chromium";v="${chrome}", "Google Chrome";v="${chrome}", "Not/A)Brand";v="24"`,
        mobile,
        platform: `"${platform}"`,
      },
    });
    const iphone = `Mozilla/5.0 (iPhone; CPU iPhone OS ${apple.replace(".", "_")} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)`;
    found.push(
      plain(`${iphone} Version/${apple} Mobile/15E148 Safari/604.1`),
      chromeOn("Linux; Android 10; K", "Android", "?1"),
      chromeOn("Windows NT 10.0; Win64; x64", "Windows", "?0"),
      plain(
        `${iphone} Mobile/22G${86 + age} Instagram ${390 - age}.0.0.28.85 (iPhone15,${age % 5}; iOS ${apple}; en_US; scale=3.00; 1179x2556)`,
      ),
      chromeOn("Macintosh; Intel Mac OS X 10_15_7", "macOS", "?0"),
      plain(
        `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${apple} Safari/605.1.15`,
      ),
      chromeOn("Windows NT 10.0; Win64; x64", "Windows", "?0", ` Edg/${chrome}.0.0.0`),
      plain(
        `${iphone} Mobile/15E148 [FBAN/FBIOS;FBAV/${530 - age}.0.0.49.73;FBDV/iPhone14,${age % 8};FBSN/iOS;FBSV/${apple}]`,
      ),
      plain(`Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${chrome}.0) Gecko/20100101 Firefox/${chrome}.0`),
      plain(
        `Mozilla/5.0 (Linux; Android 14; SM-S92${age % 9}B) ${webkit} SamsungBrowser/${29 - (age % 8)}.0 Chrome/${chrome - 12}.0.0.0 Mobile Safari/537.36`,
      ),
      chromeOn("X11; Linux x86_64", "Linux", "?0"),
      plain(`Mozilla/5.0 (compatible; Googlebot/2.${age % 3}; +http://www.google.com/bot.html)`),
    );
  }
  return found;
}

const languages = [
  "en-US,en;q=0.9",
  "en-GB,en;q=0.9",
  "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7",
  "fr-FR,fr;q=0.9,en;q=0.8",
  "es-ES,es;q=0.9",
  "pt-BR,pt;q=0.9,en-US;q=0.8",
  "ja",
  "it-IT,it;q=0.9",
  "nl-NL,nl;q=0.9,en;q=0.8",
  "pl-PL,pl;q=0.9",
];

const referrers = [
  "https://www.google.com/",
  "https://l.instagram.com/",
  "https://www.facebook.com/",
  "https://t.co/",
  "android-app://com.google.android.gm/",
  "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
  "https://lnkd.in/",
  "https://www.bing.com/",
  "https://news.example.org/2026/03/a-long-article-about-short-links.html",
  "https://duckduckgo.com/",
  "https://www.reddit.com/r/selfhosted/comments/1abcdef/short_links/",
  "https://mail.example.net/inbox/archive?thread=18c3f0b2a9",
];

const queries: readonly ((id: string) => string)[] = [
  () => "utm_source=newsletter&utm_medium=email&utm_campaign=spring-sale",
  (id) => `utm_source=google&utm_medium=cpc&utm_campaign=brand&gclid=Cj0KCQiA${id}EALw_wcB`,
  (id) => `fbclid=IwAR3${id}${id.slice(0, 20)}`,
  () => "qr=1",
];

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/** 40 characters, as ad networks mint them for each click. */
function mint(random: Random): string {
  let text = "";
  for (let index = 0; index < 40; index += 1) text += alphabet.charAt(Math.floor(random() * 64));
  return text;
}
