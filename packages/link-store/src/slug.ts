import { limits } from "@sluice/click-event/click-event.ts";

/** In UTF-16 units. A longer one could be stored, but none of its clicks. */
const maxLength = limits.slug;

/**
 * What can never be reached as one path segment of a URL: its delimiters, `\` (browsers turn it into `/`), `%`
 * (is `%20` a space or four characters?), white space, control characters and halves of surrogate pairs.
 */
const forbidden = /[/?#[\]@:\\%\p{Z}\p{Cc}\p{Cs}]/u;

/** Paths that the edge answers itself, or may have to. Compared in lower case. */
const reserved = new Set([
  ".well-known",
  "api",
  "favicon.ico",
  "livez",
  "metrics",
  "readyz",
  "robots.txt",
  "sitemap.xml",
]);

/**
 * The one form in which a slug is stored, compared and cached: composed Unicode (NFC), case kept. `undefined` when
 * no link can have it. Takes the characters themselves, not their percent-encoding.
 */
export function normaliseSlug(text: string): string | undefined {
  if (plain.test(text)) return text.length > maxLength || dots.test(text) ? undefined : text;
  const slug = text.normalize("NFC");
  return slug === "" || slug.length > maxLength || forbidden.test(slug) ? undefined : slug;
}

/**
 * The form of a slug on a domain that takes `Test` for `test`: the lower case of all Unicode, composed again, because
 * some small letters have a composed form that their capitals lack (`ǰ`). Takes what `normaliseSlug` gives.
 */
export function foldSlug(slug: string): string {
  return slug.toLowerCase().normalize("NFC");
}

/**
 * The slug that a request path asks for, percent-encoded as it stands in the request line and without its query:
 * `/caf%C3%A9` and `/caf%C3%A9/` give `café`. `undefined` when no link can have it. Never throws.
 */
export function slugOfPath(path: string): string | undefined {
  if (!path.startsWith("/")) return undefined;
  const segment = path.slice(1, path.length > 2 && path.endsWith("/") ? -1 : undefined);
  if (!segment.includes("%")) return normaliseSlug(segment);
  try {
    return normaliseSlug(decodeURIComponent(segment));
  } catch {
    return undefined;
  }
}

/** Why a new link cannot have this slug, as "what a slug takes"; `undefined` when it can. */
export function slugProblem(text: string): string | undefined {
  const slug = normaliseSlug(text);
  if (slug === undefined || foldSlug(slug).length > maxLength) {
    return `1 to ${maxLength} characters other than / ? # [ ] @ : \\ % and white space, and not . or ..`;
  }
  return reserved.has(slug.toLowerCase()) ? "a name that Sluice does not use itself" : undefined;
}

/** Needs neither decoding nor composing: nearly every slug. */
const plain = /^[\w.~!$&'()*+,;=-]+$/;
/** Browsers resolve these away before they ask. */
const dots = /^\.\.?$/;
