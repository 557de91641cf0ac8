/** The domains on which links are served, and what each of them wants. */

export const caseModes = ["exact", "insensitive"] as const;
/** Whether `Test` and `test` are two links (`exact`) or one (`insensitive`, whose slugs are as `foldSlug` gives them). */
export type CaseMode = (typeof caseModes)[number];

/** What an edge has to know of a domain. */
export interface DomainSettings {
  /** As `normaliseDomain` gives it. */
  readonly name: string;
  readonly workspaceId: number;
  readonly caseMode: CaseMode;
  /** Where `/` leads; in the form of a destination. */
  readonly homeUrl?: string;
  /** Where a slug that no link has leads; in the form of a destination. */
  readonly notFoundUrl?: string;
  /** A domain serves only when it is. */
  readonly verified: boolean;
}

export interface Domain extends DomainSettings {
  /** What the domain's owner puts into its DNS, see domain-proof.ts. */
  readonly verificationToken: string;
}

/** What is absent stays as it is; `null` takes it away. */
export interface DomainChanges {
  /** Only while the domain has no links. */
  readonly caseMode?: CaseMode;
  readonly homeUrl?: string | null;
  readonly notFoundUrl?: string | null;
}

/** As for LinkStore: safe to call concurrently; rejects with a LinkStoreError. */
export interface DomainStore {
  /** The workspace of that name; `undefined` when there is none. */
  workspaceId(workspaceName: string): Promise<number | undefined>;
  /** By its normalised name; `undefined` when there is none. Writes nothing; time limit as for `resolve`. */
  resolveDomain(name: string): Promise<DomainSettings | undefined>;
  /**
   * Makes the workspace of that name and gives it the domain, where they are not there yet; names of this machine alone
   * are verified at once. Rejects with `conflict` when the domain belongs to another workspace.
   */
  ensureDomain(domain: string, workspaceName: string): Promise<Domain>;
  /** In order of name, after that of `afterName`; `limit` is 1 to 1,000. */
  listDomains(page: { readonly afterName?: string; readonly limit: number }): Promise<readonly Domain[]>;
  /** Rejects with `not-found`, or with `invalid`: the message names field, rule and value. */
  updateDomain(domain: string, changes: DomainChanges): Promise<Domain>;
  /**
   * From now on the domain serves if `readTexts`, asked for `proofName` of it, gives its token. Rejects with `invalid`
   * when it does not: the message says what to put where.
   */
  verifyDomain(domain: string, readTexts: (name: string) => Promise<readonly string[]>): Promise<Domain>;
  /** From now on the domain serves, without a proof. Harmless to repeat. */
  markVerified(domain: string): Promise<Domain>;
}
