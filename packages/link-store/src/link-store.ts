/** Where short links live: Postgres. `open.ts` opens it, `link-cache.ts` keeps the redirect path off it. */

import type { AuditMode } from "./audit-store.ts";
import type { ChangeLog } from "./change-log.ts";
import type { DomainStore } from "./domain-store.ts";
import type { LinkOptions } from "./link-options.ts";
import type { SubscriptionStore } from "./subscription-store.ts";

export type RedirectStatus = 301 | 302 | 307 | 308;

export interface Link extends LinkOptions {
  readonly id: number;
  readonly workspaceId: number;
  /** Lower-case ASCII, without a port; as `normaliseDomain` gives it. */
  readonly domain: string;
  /** As `normaliseSlug` gives it, or `foldSlug` where the domain does not tell cases apart. */
  readonly slug: string;
  /** Printable ASCII, an absolute URL of an allowed scheme, at most 16 KiB: fit for a Location header as it is. */
  readonly destination: string;
  readonly status: RedirectStatus;
  /** Milliseconds since 1970; from then on the link no longer redirects. */
  readonly expiresAt?: number;
  readonly disabled: boolean;
  /** Its workspace's: each click has a row in Postgres before it is answered. */
  readonly audit?: AuditMode;
}

/** What somebody says of a link. Every part is checked. */
export interface LinkParts extends Omit<LinkOptions, "passwordHash"> {
  readonly destination: string;
  /** 302 without one. */
  readonly status?: RedirectStatus;
  readonly expiresAt?: number;
  /** 1 to 256 characters; kept as a hash. */
  readonly password?: string;
}

export interface NewLink extends LinkParts {
  readonly domain: string;
  /** Without one, seven random letters and digits. */
  readonly slug?: string;
  /** The domain's own workspace without one. */
  readonly workspaceId?: number;
}

/** What is absent stays as it is, byte for byte; `null` takes it away. A part is replaced as a whole. */
export type LinkChanges = {
  readonly [Part in keyof LinkParts]?: LinkParts[Part] | (Part extends "destination" ? never : null);
} & { readonly disabled?: boolean };

export interface LinkPage {
  /** Only links of this domain. */
  readonly domain?: string;
  /** Only links with a greater id: the last one of the page before. */
  readonly afterId?: number;
  /** At most so many, 1 to 1,000. */
  readonly limit: number;
}

/**
 * Every method may be called concurrently and rejects with a LinkStoreError: `unavailable` when Postgres does not
 * answer in time (1.5 s for `resolve`, 6 s for each statement of the others) or lacks its tables. Domain and
 * slug may be written in any form, but for `resolve` the domain is normalised.
 */
export interface LinkStore extends DomainStore, SubscriptionStore, ChangeLog, AsyncDisposable {
  /**
   * The link, whether or not it is disabled or expired; `undefined` when there is none. Writes nothing. Options that
   * cannot be read are left out, which is logged once a minute.
   */
  resolve(domain: string, slug: string): Promise<Link | undefined>;
  /** Rejects with `invalid` (the message names field, rule and value), `conflict` when the slug is taken. */
  create(link: NewLink): Promise<Link>;
  /** Rejects with `not-found`, or as `create` does. */
  update(domain: string, slug: string, changes: LinkChanges): Promise<Link>;
  /** In order of id. */
  list(page: LinkPage): Promise<readonly Link[]>;
  /** From now on the link does not redirect. Rejects with `not-found`. Harmless to repeat. */
  disable(domain: string, slug: string): Promise<Link>;
  /** Undoes `disable`. */
  enable(domain: string, slug: string): Promise<Link>;
  /**
   * The key that all edges share to hash visitors of a day (since 1970, UTC): `fresh`, 32 random bytes, when nobody asked
   * for it before. Deletes those of the days before the day before.
   */
  visitorSalt(day: number, fresh: Uint8Array): Promise<Uint8Array>;
  /** Resolves when Postgres answers and has the tables. */
  ping(): Promise<void>;
}

export type LinkStoreErrorCode = "unavailable" | "conflict" | "invalid" | "not-found";

/** The only error that leaves this package on purpose. `cause` is the driver's own. */
export class LinkStoreError extends Error {
  override readonly name = "LinkStoreError";
  readonly code: LinkStoreErrorCode;
  /** True when the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;

  constructor(code: LinkStoreErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.retryable = code === "unavailable";
  }
}
