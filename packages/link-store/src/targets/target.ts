/** Whom events are delivered to. */

export const targetKinds = ["webhook", "pixel", "ga4", "mixpanel", "klaviyo", "meta"] as const;
export type TargetKind = (typeof targetKinds)[number];

/** `ep_1` a webhook endpoint, `px_1` a pixel, `in_1` an integration. Its name in commands, logs and tables. */
export type TargetId = `ep_${number}` | `px_${number}` | `in_${number}`;

export interface Target {
  readonly id: TargetId;
  readonly kind: TargetKind;
  readonly workspaceId: number;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly filter: ClickFilter;
  /** Of a webhook, or of a pixel, where it is a template; of an integration empty. */
  readonly url: string;
  readonly method: "GET" | "POST";
  /** Custom headers of a webhook, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a webhook, decrypted `whsec_…`, the one to sign with first; at most two. */
  readonly secrets: readonly string[];
  /** Of an integration, decrypted: what its channel takes. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The operator lets it reach private networks. */
  readonly allowPrivate: boolean;
  /** The customer's own bounds; the defaults where undefined. */
  readonly maxInFlight: number | undefined;
  readonly maxPerSecond: number | undefined;
  /** A test delivery to this URL has succeeded. Nothing else is sent before. */
  readonly verified: boolean;
  /** Since when, in ms since 1970, and why. */
  readonly disabled: { readonly at: number; readonly reason: string } | undefined;
}

/** Which clicks it wants. Absent: all. */
export interface ClickFilter {
  readonly linkIds?: readonly number[];
  /** As `normaliseDomain` gives them. */
  readonly domains?: readonly string[];
  /** ISO 3166-1 alpha-2, capital letters. */
  readonly countries?: readonly string[];
  /** Also clicks that no person made, prefetches among them. */
  readonly includeBots: boolean;
  /** Also those of visitors who asked not to be tracked. */
  readonly includeOptedOut: boolean;
}
