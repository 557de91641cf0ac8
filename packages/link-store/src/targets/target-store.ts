/** Endpoints, integrations and pixels: kept for their owners, read by the dispatcher. `open-targets.ts` opens it. */

import type { ClickFilter, Target, TargetId } from "./target.ts";

/** What any target may have. `null` takes a bound of its own away. */
export interface TargetParts {
  /** At most 200 characters. */
  readonly description?: string;
  /** As a whole; what is absent in it: all, but no bots and nobody who opted out. */
  readonly filter?: Partial<ClickFilter>;
  /** 1 to 1,000. */
  readonly maxInFlight?: number | null;
  /** 0.01 to 10,000. */
  readonly maxPerSecond?: number | null;
}

export interface EndpointParts extends TargetParts {
  /** http or https, without user and password, at most 2,048 characters. */
  readonly url: string;
  /** Sent with each delivery: at most 20, of 4 KiB in all, none of those that mean something to us or to a proxy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `link.clicked` alone without it. */
  readonly eventTypes?: readonly string[];
}

export interface PixelParts extends TargetParts {
  /** As an endpoint's, with the macros of `pixel-macros.ts` behind its host. */
  readonly url: string;
  /** GET without it. */
  readonly method?: "GET" | "POST";
  readonly purpose?: "conversion" | "retargeting";
}

export interface IntegrationParts extends TargetParts {
  /** What its channel takes, which the dispatcher checks at the first test; 16 KiB of JSON. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export type NewTarget =
  | (EndpointParts & { readonly kind: "webhook" })
  | (PixelParts & { readonly kind: "pixel" })
  | (IntegrationParts & { readonly kind: "ga4" | "mixpanel" | "klaviyo" | "meta" });

/** What is absent stays as it is; a part is replaced as a whole. Only parts that such a target has. */
export type TargetChanges = Partial<EndpointParts & PixelParts & IntegrationParts>;

export interface TestOutcome {
  readonly ok: boolean;
  /** As of an attempt; empty for one that succeeded. */
  readonly code: string;
  /** HTTP status, 0 for none. */
  readonly status: number;
  /** For the customer; cut to 1 KiB. */
  readonly detail: string;
}

export interface ClaimedTest {
  readonly id: number;
  readonly lease: string;
  /** As it is now, which may be disabled and need not be verified. The test is for its `url` alone. */
  readonly target: Target;
}

export interface Reencrypted {
  readonly changed: number;
  /** Values that no key of the list decrypts; they stay as they are. */
  readonly unreadable: number;
}

/** For each workspace. Two who create at the same moment may both find room for one. */
export interface TargetQuotas {
  /** 100 without it. */
  readonly endpoints: number;
  /** 20 without it. */
  readonly integrations: number;
  /** 100 without it. */
  readonly pixels: number;
}

/**
 * Every method may be called concurrently and rejects with a LinkStoreError: `unavailable`; `not-found` for a target or
 * workspace that is not there; `invalid`, with field, rule and value, for what a target does not take. What cannot be
 * decrypted is `invalid` where it was asked for by name, and else left out and logged. Times are in ms since 1970.
 */
export interface TargetStore extends AsyncDisposable {
  /** All that may be sent to: verified, not disabled. Read page by page. */
  sendable(now: number): Promise<readonly Target[]>;
  /** All of a workspace. */
  list(workspaceId: number, now: number): Promise<readonly Target[]>;
  show(id: TargetId, now: number): Promise<Target>;
  /** An endpoint gets a secret. Nothing is sent to it before a test has succeeded. */
  create(workspaceId: number, target: NewTarget, now: number): Promise<Target>;
  /** With another URL it has to be tested again. */
  edit(id: TargetId, changes: TargetChanges, now: number): Promise<Target>;
  /** What waits for it goes as well, a little later. */
  delete(id: TargetId): Promise<void>;
  /**
   * A new secret to sign with; the one before stays beside it for `keepMs`, 24 hours without it. One that is older still
   * goes at once.
   */
  rotateSecret(id: TargetId, options: { readonly now: number; readonly keepMs?: number }): Promise<Target>;
  /** Resolves to whether this call did it. To enable it again, request a test with `enable`. */
  disable(id: TargetId, reason: string, now: number): Promise<boolean>;
  /** The operator's to say, for an endpoint or a pixel. */
  allowPrivate(id: TargetId, allow: boolean): Promise<void>;

  /** Brings all values under the first key. May be repeated, and others may write meanwhile. */
  reencrypt(): Promise<Reencrypted>;

  /** Resolves to the test's id. A dispatcher carries it out within seconds; nobody does after five minutes. */
  requestTest(id: TargetId, options: { readonly enable: boolean; readonly now: number }): Promise<number>;
  /** `undefined` until it is finished. */
  testResult(testId: number): Promise<TestOutcome | undefined>;
  /** The longest waiting first; leased until `leaseUntil`. */
  claimTests(options: {
    readonly now: number;
    readonly leaseUntil: number;
    readonly limit: number;
  }): Promise<readonly ClaimedTest[]>;
  /**
   * A success makes the target verified, if its URL is still the one that was tested, and with `enable` takes its
   * disabled state away. Under a lease that another holds by now it changes nothing.
   */
  finishTest(test: ClaimedTest, outcome: TestOutcome, now: number): Promise<void>;
  /** How many dispatchers have shown themselves in the last five seconds. */
  dispatchersAlive(now: number): Promise<number>;
}
