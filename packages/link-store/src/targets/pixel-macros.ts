/** What a pixel's URL may name between braces; each is replaced by what the click says, percent-encoded. */
export const pixelMacros = [
  "event_id",
  "click_id",
  "link_id",
  "domain",
  "slug",
  "destination",
  "country",
  "region",
  "city",
  "device",
  "os",
  "browser",
  "language",
  "referrer",
  "channel",
  "variant",
  "ts",
  "ts_ms",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "gclid",
  "gbraid",
  "wbraid",
  "dclid",
  "fbclid",
  "msclkid",
  "ttclid",
  "twclid",
  "li_fat_id",
] as const;
export type PixelMacro = (typeof pixelMacros)[number];

const known: ReadonlySet<string> = new Set(pixelMacros);

/** Any text between braces: also `{}` and what nobody could mean. */
export const macro = /\{([^{}]*)\}/g;

/** Scheme, host and port, plainly written: nothing that a parser of URLs would read in another way. */
const plainOrigin = /^https?:\/\/[^/\\?#@{}\s]+(?:[/?#]|$)/i;

/**
 * Why a template is none, as "what it takes"; `undefined` when it is fine. Who receives the visitor's data must not
 * depend on it: so no macro in scheme, user, host or port.
 */
export function templateProblem(text: string): string | undefined {
  const unknown = [...text.matchAll(macro)].map(([, name = ""]) => name).find((name) => !known.has(name));
  if (unknown !== undefined)
    return `a URL whose macros are among ${pixelMacros.map((name) => `{${name}}`).join(" ")}`;
  if (/[{}]/.test(text.replaceAll(macro, ""))) return "a URL with a closing brace for each opening one";
  return plainOrigin.test(text)
    ? undefined
    : "a URL that begins with http:// or https:// and a host without macros";
}
