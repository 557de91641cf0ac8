/** Where short links live: Postgres. `open.ts` opens it, `link-cache.ts` keeps the redirect path off it. */

import type { ChangeLog } from "./change-log.ts";
import type { LinkOptions } from "./link-options.ts";

export type RedirectStatus = 301 | 302 | 307 | 308;

export interface Link extends LinkOptions {
  readonly id: number;
  readonly workspaceId: number;
  /** Lower-case ASCII, without a port; as `normaliseDomain` gives it. */
  readonly domain: string;
  /** As `normaliseSlug` gives it. */
  readonly slug: string;
  /** Printable ASCII, an absolute URL of an allowed scheme, at most 16 KiB: fit for a Location header as it is. */
  readonly destination: string;
  readonly status: RedirectStatus;
  /** Milliseconds since 1970; from then on the link no longer redirects. */
  readonly expiresAt?: number;
  readonly disabled: boolean;
}

export interface NewLink {
  readonly domain: string;
  /** Without one, seven random letters and digits. */
  readonly slug?: string;
  readonly destination: string;
  /** 302 without one. */
  readonly status?: RedirectStatus;
  readonly expiresAt?: number;
  /** The domain's own workspace without one. */
  readonly workspaceId?: number;
}

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
 * answer in time (1.5 s for `resolve`, 6 s for each statement of the others) or lacks its tables.
 */
export interface LinkStore extends AsyncDisposable, ChangeLog {
  /** The link, whether or not it is disabled or expired; `undefined` when there is none. Writes nothing. */
  resolve(domain: string, slug: string): Promise<Link | undefined>;
  /** Rejects with `invalid` (the message names field, rule and value), `conflict` when the slug is taken. */
  create(link: NewLink): Promise<Link>;
  /** In order of id. */
  list(page: LinkPage): Promise<readonly Link[]>;
  /** From now on the link does not redirect. Rejects with `not-found`. Harmless to repeat. */
  disable(domain: string, slug: string): Promise<Link>;
  /**
   * Makes the workspace of that name and gives it the domain, where they are not there yet. Rejects with
   * `conflict` when the domain belongs to another workspace.
   */
  ensureDomain(domain: string, workspaceName: string): Promise<{ readonly workspaceId: number }>;
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
