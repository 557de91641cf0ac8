/** Counts are of this process; those marked so are divided by the dispatchers alive. */
export interface LaneLimits {
  /** Per target, where it sets none. Divided. */
  readonly inFlight: number;
  /** Requests per second and target, where it sets none; a second's worth may come at once. Divided. */
  readonly perSecond: number;
  /** Of all webhooks and pixels of all owners to one host. Divided. */
  readonly hostInFlight: number;
  /** Likewise. Divided. */
  readonly hostPerSecond: number;
  /** Webhooks and pixels. A workspace has at most as many in flight as are free. */
  readonly totalInFlight: number;
  /** Integrations, apart from those. */
  readonly integrationsInFlight: number;
  /** Integrations of one workspace. Divided. */
  readonly integrationsPerWorkspace: number;
  /** Deliveries waiting in lanes. A workspace has at most as many as are free. */
  readonly queued: number;
  /** An attempt that takes longer makes its lane slow: batches no longer wait for it. */
  readonly slowMs: number;
  /** A batch waits so long for a delivery to be started, and for a lane of which nothing is known to answer. */
  readonly patienceMs: number;
  /** What was claimed waits so long in a lane before it is handed back. */
  readonly waitMs: number;
  /** The longest request to a webhook or pixel: the HTTP client's own limit and a second to clean up. */
  readonly sendMs: number;
  /** The longest request to a vendor. */
  readonly integrationMs: number;
  /** What a claim is leased for, and a delivery under way. */
  readonly leaseMs: number;
}

export const defaultLimits: LaneLimits = {
  inFlight: 10,
  perSecond: 100,
  // Five targets' worth: as many as one owner would reasonably point at one server.
  hostInFlight: 50,
  hostPerSecond: 500,
  // About 50 KB each while in flight, with the client's buffers: 26 MB.
  totalInFlight: 512,
  integrationsInFlight: 256,
  integrationsPerWorkspace: 16,
  // About 2 KB each: 20 MB.
  queued: 10_000,
  // Half a batch's window, both: so long a batch may be held up by a lane again and again.
  slowMs: 500,
  patienceMs: 500,
  waitMs: 5_000,
  sendMs: 16_000,
  integrationMs: 10_000,
  leaseMs: 60_000,
};

/** Clocks that differ, a claim and a settlement that wait for Postgres. */
const leaseMarginMs = 10_000;

/**
 * A lease that ends while its request is in flight has the same delivery sent twice (facts: svix #2181). An attempt whose
 * batch is split begins its last request within the time of the first.
 */
export function shortestLeaseMs({ waitMs, sendMs, integrationMs }: LaneLimits): number {
  return waitMs + Math.max(sendMs, 2 * integrationMs) + leaseMarginMs;
}
