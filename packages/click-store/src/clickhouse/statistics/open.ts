import { type Counting, type CountsOf, createAnswers } from "../../statistics/answers.ts";
import type { Statistics } from "../../statistics.ts";
import { connect, type Connection } from "../connection.ts";
import { selectChangedHoursOf } from "../queries/click-rollup-marks.ts";
import { rolledUp } from "../queries/click-rollup.ts";
import { selectCounts } from "../queries/statistics.ts";
import { planOf } from "./plan.ts";

const timeouts = { serverMs: 10_000, clientMs: 12_000 };

/** See `openStatistics`. */
export function openClickHouseStatistics(url: string): Statistics {
  const connection = connect(url, timeouts);
  return {
    ...createAnswers((counting, signal) => count(connection, counting, signal)),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/**
 * Which hours have changed is asked first: what is counted meanwhile is in the rollup by then, and what changes meanwhile
 * is a change after the question.
 */
async function count(connection: Connection, counting: Counting, signal: AbortSignal): Promise<CountsOf[]> {
  const { workspaceId, fromTs, toTs, filters, by, boundaries } = counting;
  const range = { fromTs, toTs };
  const inPlay = new Set([...filters.map(({ dimension }) => dimension), ...(by === undefined ? [] : [by])]);
  // The rollup tells the values of one dimension apart, not how those of two go together.
  const counted = inPlay.size === 0 || (inPlay.size === 1 && rolledUp.some((name) => inPlay.has(name)));
  const plan = counted
    ? planOf(range, boundaries, await selectChangedHoursOf(connection, { workspaceId, ...range }, signal))
    : { rollup: { fromTs, toTs: fromTs }, rows: [range], hoursApart: false };
  return await selectCounts(connection, { ...counting, plan }, signal);
}
