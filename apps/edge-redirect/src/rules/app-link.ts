import { isWeb } from "./location.ts";

/**
 * How a visitor gets into an app:
 *
 * - `redirect`: a web URL that the app has claimed (universal links, App Links). The system opens the app, or the
 *   browser the URL where there is no app.
 * - `intent`: a URL of the app's own (`fb://profile/1`) on Android, with the destination to fall back on.
 * - `page`: the same on iOS, where it is an error without the app and nothing but the visitor can tell: a page with a
 *   link to each.
 * - `web`: to the destination. The browser inside an Android app (a WebView) knows neither such URLs nor intents.
 */
export function wayIntoApp(
  system: "ios" | "android",
  app: string,
  userAgent: string,
): "redirect" | "intent" | "page" | "web" {
  if (isWeb(app)) return "redirect";
  if (system === "ios") return "page";
  return inApp.test(userAgent) ? "web" : "intent";
}

/** Android's WebView says `; wv)`; the browsers inside Meta's apps say who they are. */
const inApp = /; wv\)|\bFB(?:AN|AV|_IAB)\b|\bInstagram\b/;

/**
 * An `intent:` as Android's `Intent.parseUri` reads it: what stands before the last `#` is the app's URL without its
 * scheme. Browsers go to the fallback when no app takes it (https://developer.chrome.com/docs/android/intents).
 */
export function intentOf(app: string, destination: string): string {
  const colon = app.indexOf(":");
  // `encodeURIComponent` encodes `;` and `#`, all that could end the value early.
  const fallback = isWeb(destination) ? `S.browser_fallback_url=${encodeURIComponent(destination)};` : "";
  return `intent:${app.slice(colon + 1)}#Intent;scheme=${app.slice(0, colon)};${fallback}end`;
}
