/** Who wants to be told of clicks: endpoints, integrations and pixels that are verified and not disabled, without where they are. */

export interface ClickSubscription {
  readonly workspaceId: number;
  /** Absent for all links of the workspace. */
  readonly linkIds?: readonly number[];
  /** Also clicks that no person made. */
  readonly includeBots: boolean;
  /** Also clicks of visitors who asked not to be tracked. */
  readonly includeOptedOut: boolean;
}

export interface SubscriptionStore {
  /**
   * All that want clicks, read page by page: what is written meanwhile may be missing, and is noted as a change. A
   * subscription costs some 100 bytes and a link id of its 8. Rejects with `unavailable` as the store's other calls do.
   */
  clickSubscriptions(): Promise<readonly ClickSubscription[]>;
}
