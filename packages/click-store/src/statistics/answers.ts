import type { Counts, Question, Statistics } from "../statistics.ts";
import { boundariesOf } from "./buckets.ts";
import type { Dimension } from "./dimensions.ts";
import { checkDimension, checkLimit, checkQuestion, filtersOf } from "./question.ts";

/** What an adapter is asked to count, checked. */
export interface Counting {
  readonly workspaceId: number;
  readonly linkId: number;
  readonly fromTs: number;
  readonly toTs: number;
  readonly filters: readonly { readonly dimension: Dimension; readonly value: string }[];
  /** Apart by value of this dimension, without what has none; together without. */
  readonly by?: Dimension;
  /** Apart by where these ms, ascending whole seconds, cut the range; together without. */
  readonly boundaries: readonly number[];
  /** Of the values with the most clicks. */
  readonly limit: number;
}

export interface CountsOf extends Counts {
  /** The boundary that begins the bucket; 0 for the first. */
  readonly beginsAt: number;
  readonly value: string;
}

/** More than there may be buckets. */
const noLimit = 10_000;
const nothing: Counts = { clicks: 0, bots: 0, visitors: 0 };

/** The answers of `Statistics`, from an adapter's counts: none that are zero, those with the most clicks first. */
export function createAnswers(
  count: (counting: Counting, signal: AbortSignal) => Promise<readonly CountsOf[]>,
): Omit<Statistics, typeof Symbol.asyncDispose> {
  return {
    async totals(question, signal) {
      const [counts = nothing] = await count({ ...checked(question), boundaries: [], limit: 1 }, signal);
      return countsOf(counts);
    },
    async series(question, signal) {
      const asked = checked(question);
      const boundaries = boundariesOf(question);
      const counted = await count({ ...asked, boundaries, limit: noLimit }, signal);
      const byBeginning = new Map(counted.map((counts) => [counts.beginsAt, counts]));
      return [0, ...boundaries].map((beginsAt, index) => ({
        fromTs: beginsAt === 0 ? question.fromTs : beginsAt,
        toTs: boundaries[index] ?? question.toTs,
        ...countsOf(byBeginning.get(beginsAt) ?? nothing),
      }));
    },
    async top({ by, limit, ...question }, signal) {
      const asked = checked(question);
      checkDimension("by", by);
      checkLimit(limit);
      const counted = await count({ ...asked, by, boundaries: [], limit }, signal);
      return counted.map((counts) => ({ value: counts.value, ...countsOf(counts) }));
    },
  };
}

function checked(question: Question): Omit<Counting, "by" | "boundaries" | "limit"> {
  checkQuestion(question);
  const { workspaceId, linkId, fromTs, toTs } = question;
  return { workspaceId, linkId, fromTs, toTs, filters: filtersOf(question.filters) };
}

function countsOf({ clicks, bots, visitors }: Counts): Counts {
  return { clicks, bots, visitors };
}
