import { normaliseDestination } from "./destination.ts";
import { normaliseDomain } from "./domain.ts";
import { LinkStoreError, type NewLink, type RedirectStatus } from "./link-store.ts";
import { normaliseSlug, slugProblem } from "./slug.ts";

export interface CheckedLink {
  readonly workspaceId: number | undefined;
  readonly domain: string;
  /** `undefined` for one still to be drawn. */
  readonly slug: string | undefined;
  readonly destination: string;
  readonly status: RedirectStatus;
  readonly expiresAt: number | undefined;
}

const statuses: readonly number[] = [301, 302, 307, 308];
/** 9999-12-31: what every date format can write. */
const latest = 253_402_300_799_999;

/** A new link with each part in its one form. Throws `invalid`, naming the field, what it takes and what it got. */
export function checkNewLink(link: NewLink): CheckedLink {
  const { workspaceId, slug, status = 302, expiresAt } = link;
  const domain = checkDomain(link.domain);
  const problem = slug === undefined ? undefined : slugProblem(slug);
  if (problem !== undefined) throw invalid("slug", problem, slug);
  const destination = normaliseDestination(link.destination);
  if ("takes" in destination) throw invalid("destination", destination.takes, link.destination);
  if (!statuses.includes(status)) throw invalid("status", "301, 302, 307 or 308", status);
  if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > 0 && expiresAt <= latest)) {
    throw invalid("expiresAt", "milliseconds since 1970", expiresAt);
  }
  return {
    workspaceId,
    domain,
    slug: slug === undefined ? undefined : normaliseSlug(slug),
    destination: destination.href,
    status,
    expiresAt,
  };
}

/** The domain in its one form, or `invalid`. */
export function checkDomain(text: string): string {
  const domain = normaliseDomain(text);
  if (domain === undefined) throw invalid("domain", "a host name such as go.example.com", text);
  return domain;
}

export function invalid(field: string, takes: string, got: string | number | undefined): LinkStoreError {
  const shown = JSON.stringify(got) ?? "nothing";
  const short = shown.length > 100 ? `${shown.slice(0, 100)}…` : shown;
  return new LinkStoreError("invalid", `${field} takes ${takes}; got ${short}`);
}
