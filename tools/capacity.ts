// How much of everything so many clicks need: docs/capacity.md.
import { parseArgs } from "node:util";

import { type Demand, plan } from "./capacity/plan.ts";
import { planText } from "./capacity/text.ts";

/** What an option is without being given, and the least that it takes. Only the first has to be given. */
const options = {
  "clicks-per-day": { is: undefined, least: 1, what: "clicks of a day" },
  peak: { is: 5, least: 1, what: "how many times the mean the busiest second has" },
  edges: { is: 3, least: 1, what: "edges, in all regions together" },
  "outage-hours": { is: 24, least: 1, what: "Kafka, or the way to it, may be away for so long" },
  "catch-up-hours": { is: 4, least: 1, what: "and then all is stored after so long" },
  "kafka-hours": { is: 72, least: 1, what: "how long Kafka keeps clicks" },
  "kafka-copies": { is: 3, least: 1, what: "of each partition" },
  "clickhouse-days": { is: 365, least: 1, what: "how long clicks are kept" },
  "clickhouse-copies": { is: 1, least: 1, what: "of each row" },
  "deliveries-percent": { is: 0, least: 0, what: "webhooks and the like for a hundred clicks" },
} as const;
type Name = keyof typeof options;

class BadArgument extends Error {}

try {
  console.log(planText(plan(readDemand(process.argv.slice(2)))));
} catch (error) {
  if (!(error instanceof BadArgument)) throw error;
  console.error(`capacity: ${error.message}\n\n${usage()}`);
  process.exitCode = 64;
}

function readDemand(args: readonly string[]): Demand {
  const given = parse(args);
  const number = (name: Name) => numberOf(name, given[name]);
  return {
    clicksPerDay: number("clicks-per-day"),
    peak: number("peak"),
    edges: number("edges"),
    outageHours: number("outage-hours"),
    catchUpHours: number("catch-up-hours"),
    kafkaHours: number("kafka-hours"),
    kafkaCopies: number("kafka-copies"),
    clickHouseDays: number("clickhouse-days"),
    clickHouseCopies: number("clickhouse-copies"),
    deliveriesPercent: number("deliveries-percent"),
  };
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const strings = Object.fromEntries(Object.keys(options).map((name) => [name, { type: "string" as const }]));
  try {
    return parseArgs({ args: [...args], options: strings }).values;
  } catch (error) {
    throw new BadArgument(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function numberOf(name: Name, text: string | boolean | undefined): number {
  const { is, least } = options[name];
  if (text === undefined && is !== undefined) return is;
  const value = typeof text === "string" && /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= 1e15) return value;
  throw new BadArgument(
    `--${name} takes a number from ${least} on, got ${text === undefined ? "nothing" : `"${text}"`}`,
  );
}

function usage(): string {
  const lines = Object.entries(options).map(
    ([name, { is, what }]) => `  ${`--${name}`.padEnd(22)}${what}${is === undefined ? "" : `; ${is}`}`,
  );
  return ["node tools/capacity.ts --clicks-per-day <number> …", "", ...lines].join("\n");
}
