import type { Metrics } from "@sluice/service/metrics.ts";
import type { Link } from "./link-store.ts";

export type Resolution =
  | { readonly kind: "found"; readonly link: Link }
  | { readonly kind: "unknown" }
  | { readonly kind: "unavailable" };

export interface LinkCache {
  get(domain: string, slug: string): Resolution | Promise<Resolution>;
  hottest(count: number): readonly Link[];
  seed(links: readonly Link[]): void;
}

export interface LinkCacheOptions {
  readonly resolve: (domain: string, slug: string) => Promise<Link | undefined>;
  readonly maxBytes: number;
  readonly ttlMs: number;
  readonly negativeTtlMs: number;
  readonly staleMs: number;
  readonly metrics: Metrics;
  readonly now?: () => number;
  readonly random?: () => number;
}
