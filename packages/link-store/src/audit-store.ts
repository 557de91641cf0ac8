/** Rows of clicks for workspaces that must be able to prove them. `open-audit.ts` opens it. */

export const auditModes = ["redirect", "refuse"] as const;
/**
 * What happens to a visitor when no row can be written: `redirect` sends them on and writes it later, from the journal;
 * `refuse` does not, and there is no click.
 */
export type AuditMode = (typeof auditModes)[number];

/** A click of a workspace that asked for it. */
export interface AuditRow {
  readonly eventId: string;
  /** Milliseconds since 1970. */
  readonly ts: number;
  readonly workspaceId: number;
  readonly linkId: number;
  /** JSON, kept byte for byte. */
  readonly event: string;
}

export interface StoredAuditRow extends AuditRow {
  /** Written after the answer, from the journal. */
  readonly late: boolean;
  readonly recordedAt: number;
}

export interface AuditPage {
  /** By `ts`, in ms since 1970: from the first, up to but not with the second. */
  readonly fromTs: number;
  readonly toTs: number;
  /** Only rows behind this one: the last of the page before. */
  readonly after?: { readonly ts: number; readonly eventId: string };
  /** 1 to 10,000. */
  readonly limit: number;
}

/** Rows are only ever added. Every method may be called concurrently and rejects with a LinkStoreError. */
export interface AuditStore extends AsyncDisposable {
  /** Resolves when the row is there, by this call or an earlier one. Takes half a second at most: a visitor waits. */
  record(row: AuditRow): Promise<void>;
  /** Adds those that are not there, marked late. Resolves to how many that were. */
  recordLate(rows: readonly AuditRow[]): Promise<number>;
  workspaces(): Promise<ReadonlyMap<number, AuditMode>>;
  /** From now on; `undefined` ends it. Rejects with `not-found` for a workspace that is not there. */
  setMode(workspaceName: string, mode: AuditMode | undefined): Promise<void>;
  /** In order of `ts` and id. */
  list(page: AuditPage): Promise<readonly StoredAuditRow[]>;
  /** Which of these events have a row. */
  audited(eventIds: readonly string[]): Promise<ReadonlySet<string>>;
}
