import {
  type Counts,
  openStatistics,
  type Question,
  type Statistics,
} from "@sluice/click-store/statistics.ts";
import type { Interval } from "@sluice/click-store/statistics/buckets.ts";
import type { Dimension } from "@sluice/click-store/statistics/dimensions.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";
import { existing } from "../links/links.ts";
import { type Json, openLinks } from "../open-links.ts";

interface Asked extends Json {
  readonly domain: string;
  readonly from?: number;
  readonly to?: number;
  readonly interval: Interval;
  readonly zone: string;
  readonly by?: Dimension;
  readonly limit: number;
}

const monthMs = 30 * 86_400_000;
const never = new AbortController().signal;

interface Row extends Counts {
  readonly name: string;
}

/** Prints a link's totals, and below them its values of one dimension, or its counts over time. */
export async function showStatistics(context: Context, slug: string, asked: Asked): Promise<void> {
  const { to: toTs = Date.now(), from: fromTs = toTs - monthMs } = asked;
  await using links = await openLinks(context);
  const { workspaceId, id: linkId } = await existing(links, asked.domain, slug);
  const question = { workspaceId, linkId, fromTs, toTs };
  await using statistics = await openStatistics(await context.addresses.clickStoreUrl());
  const below = await rowsOf(statistics, question, asked).catch(refuse);
  const rows = [{ name: "total", ...(await statistics.totals(question, never)) }, ...below];
  for (const line of asked.json ? rows.map((row) => JSON.stringify(row)) : table(rows)) context.print(line);
}

async function rowsOf(
  statistics: Statistics,
  question: Question,
  { interval, zone, by, limit }: Asked,
): Promise<Row[]> {
  if (by === undefined) {
    const buckets = await statistics.series({ ...question, interval, zone }, never);
    return buckets.map(({ fromTs, clicks, visitors, bots }) => {
      return { name: new Date(fromTs).toISOString(), clicks, visitors, bots };
    });
  }
  const values = await statistics.top({ ...question, by, limit }, never);
  return values.map(({ value, ...counts }) => ({ name: value, ...counts }));
}

/** What cannot be asked is whoever asked's to mend; its message begins with the option's name. */
function refuse(error: unknown): never {
  const field =
    error instanceof TypeError && /^(?<name>\w+?)(?:Ts)?: (?<what>.+)/.exec(error.message)?.groups;
  if (field) throw new ServiceError("config", `--${field["name"]}: ${field["what"]}`);
  throw error;
}

function table(rows: readonly Row[]): string[] {
  const cells = [
    ["", "clicks", "visitors", "bots"],
    ...rows.map(({ name, clicks, visitors, bots }) => [name, `${clicks}`, `${visitors}`, `${bots}`]),
  ];
  const width = Math.max(...cells.map(([name = ""]) => name.length));
  return cells.map(([name = "", ...numbers]) =>
    [name.padEnd(width), ...numbers.map((number) => number.padStart(10))].join(""),
  );
}
