import { boundariesOf } from "../../statistics/buckets.ts";
import type { Dimension } from "../../statistics/dimensions.ts";
import { checkDimension, checkLimit, checkQuestion, filtersOf } from "../../statistics/question.ts";
import type { Counts, Question, Statistics } from "../../statistics.ts";
import { connect, type Connection } from "../connection.ts";
import { selectChangedHoursOf } from "../queries/click-rollup-marks.ts";
import { rolledUp } from "../queries/click-rollup.ts";
import { type CountsOf, selectCounts } from "../queries/statistics.ts";
import { planOf } from "./plan.ts";

const timeouts = { serverMs: 10_000, clientMs: 12_000 };
/** More than there may be buckets. */
const noLimit = 10_000;
const nothing: Counts = { clicks: 0, bots: 0, visitors: 0 };

/** See `openStatistics`. */
export function openClickHouseStatistics(url: string): Statistics {
  const connection = connect(url, timeouts);
  return {
    async totals(question, signal) {
      checkQuestion(question);
      const [counts = nothing] = await count(connection, question, {}, signal);
      return countsOf(counts);
    },
    async series(question, signal) {
      checkQuestion(question);
      const boundaries = boundariesOf(question);
      const counted = await count(connection, question, { boundaries }, signal);
      const byBeginning = new Map(counted.map((counts) => [counts.beginsAt, counts]));
      return [0, ...boundaries].map((beginsAt, index) => ({
        fromTs: beginsAt === 0 ? question.fromTs : beginsAt,
        toTs: boundaries[index] ?? question.toTs,
        ...countsOf(byBeginning.get(beginsAt) ?? nothing),
      }));
    },
    async top(question, signal) {
      checkQuestion(question);
      checkDimension("by", question.by);
      checkLimit(question.limit);
      const counted = await count(connection, question, question, signal);
      return counted.map((counts) => ({ value: counts.value, ...countsOf(counts) }));
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/**
 * Which hours have changed is asked first: what is counted meanwhile is in the rollup by then, and what changes meanwhile
 * is a change after the question.
 */
async function count(
  connection: Connection,
  { workspaceId, linkId, fromTs, toTs, filters: given }: Question,
  apart: { by?: Dimension; boundaries?: readonly number[]; limit?: number },
  signal: AbortSignal,
): Promise<CountsOf[]> {
  const { by, boundaries = [], limit = noLimit } = apart;
  const filters = filtersOf(given);
  const range = { fromTs, toTs };
  const inPlay = new Set([...filters.map(({ dimension }) => dimension), ...(by === undefined ? [] : [by])]);
  // The rollup tells the values of one dimension apart, not how those of two go together.
  const counted = inPlay.size === 0 || (inPlay.size === 1 && rolledUp.some((name) => inPlay.has(name)));
  const plan = counted
    ? planOf(range, boundaries, await selectChangedHoursOf(connection, { workspaceId, ...range }, signal))
    : { rollup: { fromTs, toTs: fromTs }, rows: [range] };
  const counting = { workspaceId, linkId, plan, filters, boundaries, limit, ...(by !== undefined && { by }) };
  return await selectCounts(connection, counting, signal);
}

function countsOf({ clicks, bots, visitors }: Counts): Counts {
  return { clicks, bots, visitors };
}
