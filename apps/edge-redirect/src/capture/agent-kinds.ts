import { botReasons } from "@sluice/click-event/bot.ts";
import { isbot } from "isbot";

/**
 * Who fetches a page to show a preview of its link: by the names they give. They are told apart from other programs,
 * because they mean that a link was sent to somebody.
 */
const previews =
  /^WhatsApp\/|facebookexternalhit|facebookcatalog|Facebot|cf-facebook|Slackbot|Slack-ImgProxy|Twitterbot|LinkedInBot|TelegramBot|Discordbot|SkypeUriPreview|MicrosoftPreview|BingPreview|Mastodon\/|Pleroma|Misskey|Bluesky Cardyb|Iframely|Embedly|redditbot|vkShare|Viber|kakaotalk-scrap|line-poker|Snap URL Preview|Google-PageRenderer|developers\.google\.com\/\+\/web\/snippet|Pinterestbot|thirdLandingPageFeInfra|XING-contenttabreceiver|Synapse \(bot|Zoombot|Signal-Desktop/i;

/** The bits of `botReasons` that a user agent gives. Takes about 2 µs: remember it. */
export function botOfAgent(userAgent: string): number {
  if (userAgent === "") return botReasons.no_agent.bit;
  if (previews.test(userAgent)) return botReasons.preview.bit;
  return isbot(userAgent) ? botReasons.crawler.bit : 0;
}
