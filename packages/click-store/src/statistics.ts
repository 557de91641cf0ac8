import type { Dimension } from "./statistics/dimensions.ts";
import type { Interval } from "./statistics/buckets.ts";
import { storeKind } from "./store-kind.ts";

/** What is asked about one link. */
export interface Question {
  readonly workspaceId: number;
  readonly linkId: number;
  /** By a click's time, in ms since 1970: from the first, up to but not with the second. At most ten years. */
  readonly fromTs: number;
  readonly toTs: number;
  /** Only clicks with these values. With more than one dimension in play the rows themselves are read, which takes longer. */
  readonly filters?: Filters;
}

export type Filters = { readonly [D in Dimension]?: string };

export interface Counts {
  /** People's clicks: docs/counting.md. */
  readonly clicks: number;
  /** All others. */
  readonly bots: number;
  /**
   * Different visitors among people's clicks; who asked not to be tracked is none. A visitor has another number each day
   * (UTC), so of several days this is the sum of their visitors. Exact up to 500; above, ClickHouse's are within about
   * 2 %, Postgres's exact.
   */
  readonly visitors: number;
}

export interface Bucket extends Counts {
  /** The first begins and the last ends with the question's own range. */
  readonly fromTs: number;
  readonly toTs: number;
}

export interface Value extends Counts {
  readonly value: string;
}

/**
 * What a page about a link shows, as a count over the view `clicks` would find it at that moment: repeats never count,
 * and clicks are there as soon as they are stored. Makes one attempt. Rejects with a TypeError that begins with the
 * field's name for what cannot be asked, else with a ClickStoreError (class `retry` when the answer takes longer than
 * ten seconds: ask about less), or the signal's reason. Calls may run at once.
 */
export interface Statistics extends AsyncDisposable {
  totals(question: Question, signal: AbortSignal): Promise<Counts>;
  /** All buckets of the range in order, the empty ones too; at most 1,000. `zone` is an IANA name. */
  series(
    question: Question & { readonly interval: Interval; readonly zone: string },
    signal: AbortSignal,
  ): Promise<readonly Bucket[]>;
  /**
   * The values with the most clicks of people, then of others, then in alphabetical order of their bytes. Clicks
   * without a value are in the totals and in no list. `limit` is 1 to 1,000.
   */
  top(
    question: Question & { readonly by: Dimension; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly Value[]>;
}

/** Opens the statistics of the click store that the URL names. Rejects only for a URL that cannot be one. */
export async function openStatistics(url: string): Promise<Statistics> {
  if (storeKind(url) === "Postgres") {
    const { openPostgresStatistics } = await import("./postgres/statistics.ts");
    return openPostgresStatistics(url);
  }
  const { openClickHouseStatistics } = await import("./clickhouse/statistics/open.ts");
  return openClickHouseStatistics(url);
}
