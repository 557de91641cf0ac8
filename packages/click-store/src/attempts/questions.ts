import type { Attempt, AttemptFilter, AttemptKey, Attempts, TargetSummary } from "../attempts.ts";

/** What an adapter answers: `list` for one day of UTC at most. */
export interface Answering {
  readonly list: (
    filter: AttemptFilter,
    page: { readonly limit: number; readonly after: AttemptKey | undefined },
    signal: AbortSignal,
  ) => Promise<readonly Attempt[]>;
  readonly summary: (filter: AttemptFilter, limit: number, signal: AbortSignal) => Promise<readonly Sums[]>;
}

export type Sums = Omit<TargetSummary, "successRate">;

/** Neither store keeps more days than this: nobody is made to go through years of nothing. */
const maxDays = 31;
const dayMs = 86_400_000;

export function createQuestions({ list, summary }: Answering): Pick<Attempts, "list" | "summary"> {
  return {
    async list(filter, { limit, after }, signal) {
      checkLimit(limit);
      const found: Attempt[] = [];
      let toTs = Math.min(filter.toTs, after === undefined ? Infinity : after.ts + 1, Date.now() + dayMs);
      const fromTs = Math.max(filter.fromTs, toTs - maxDays * dayMs);
      // A day has a partition of its own: none but those that are shown are read and sorted.
      while (toTs > fromTs && found.length < limit) {
        const dayTs = Math.floor((toTs - 1) / dayMs) * dayMs;
        const day = { ...filter, fromTs: Math.max(fromTs, dayTs), toTs };
        found.push(...(await list(day, { limit: limit - found.length, after }, signal)));
        toTs = dayTs;
      }
      return found;
    },
    async summary(filter, { limit }, signal) {
      checkLimit(limit);
      return (await summary(filter, limit, signal)).map((sums) => {
        const sent = sums.attempts - sums.skipped;
        return { ...sums, successRate: sent === 0 ? 1 : sums.delivered / sent };
      });
    },
  };
}

function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new RangeError(`limit: takes 1 to 1000, got ${limit}`);
}
