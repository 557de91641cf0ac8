import { z } from "zod";
import { caseModes, type DomainChanges } from "./domain-store.ts";
import { normaliseDomain } from "./domain.ts";
import { invalid } from "./invalid.ts";
import { check, checkOptions, Destination, Instant } from "./link-options-schema.ts";
import type { LinkOptions } from "./link-options.ts";
import { type LinkChanges, LinkStoreError, type RedirectStatus } from "./link-store.ts";
import { webHost, webHostsOf } from "./own-hosts.ts";
import { hashPassword, isPasswordText } from "./password.ts";
import { normaliseSlug, slugProblem } from "./slug.ts";

/** Changes of a link with each part in its one form. `undefined` leaves a part, `null` takes it away. */
export interface CheckedParts {
  readonly destination: string | undefined;
  readonly status: RedirectStatus | undefined;
  readonly expiresAt: number | null | undefined;
  readonly disabled: boolean | undefined;
  readonly options: LinkOptions;
  /** Names of options to take away. */
  readonly removed: readonly string[];
  /** Where it leads to: none of them may be a domain of our own. */
  readonly hosts: readonly string[];
}

const Status = z.literal([301, 302, 307, 308], "301, 302, 307 or 308");

/** Throws `invalid`. The password's hash is made last, when all else is right. */
export async function checkParts(parts: LinkChanges): Promise<CheckedParts> {
  const { destination, status, expiresAt, disabled, password, ...others } = parts;
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  const options = checkOptions(Object.fromEntries(given.filter(([, value]) => value !== null)));
  const removed = given.filter(([, value]) => value === null).map(([name]) => name);
  const href = check(Destination.optional(), destination, "destination");
  const checked = {
    destination: href,
    status: check(Status.optional(), status ?? (status === null ? 302 : undefined), "status"),
    expiresAt: check(Instant.nullish(), expiresAt, "expiresAt"),
    disabled,
    hosts: webHostsOf(href, options),
  };
  if (options.startsAt !== undefined && (expiresAt ?? Infinity) <= options.startsAt) {
    throw invalid("expiresAt", "a time after startsAt", expiresAt);
  }
  if (password === undefined) return { ...checked, options, removed };
  if (password === null) return { ...checked, options, removed: [...removed, "passwordHash"] };
  if (!isPasswordText(password)) {
    // The one value that no message may show.
    throw new LinkStoreError("invalid", `password takes 1 to 256 characters; got ${password.length}`);
  }
  return { ...checked, options: { ...options, passwordHash: await hashPassword(password) }, removed };
}

export interface CheckedDomainChanges {
  readonly caseMode: string | undefined;
  readonly homeUrl: string | null | undefined;
  readonly notFoundUrl: string | null | undefined;
  readonly hosts: readonly string[];
}

const Mode = z.enum(caseModes, caseModes.join(" or "));

/** Throws `invalid`. */
export function checkDomainChanges(changes: DomainChanges): CheckedDomainChanges {
  const caseMode = check(Mode.optional(), changes.caseMode, "caseMode");
  const homeUrl = check(Destination.nullish(), changes.homeUrl, "homeUrl");
  const notFoundUrl = check(Destination.nullish(), changes.notFoundUrl, "notFoundUrl");
  const hosts = [homeUrl, notFoundUrl].map((href) => (typeof href === "string" ? webHost(href) : undefined));
  return { caseMode, homeUrl, notFoundUrl, hosts: hosts.filter((host) => host !== undefined) };
}

/** The domain in its one form, or `invalid`. */
export function checkDomain(text: string): string {
  const domain = normaliseDomain(text);
  if (domain === undefined) throw invalid("domain", "a host name such as go.example.com", text);
  return domain;
}

/** A new link's slug in its one form, or `invalid`. */
export function checkSlug(text: string): string {
  const problem = slugProblem(text);
  if (problem !== undefined) throw invalid("slug", problem, text);
  return normaliseSlug(text) ?? text;
}

/** Of `page.limit`, which bounds what is held in memory at once. */
export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) throw invalid("limit", "1 to 1000", limit);
}
