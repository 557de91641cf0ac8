import { measured } from "./measured.ts";

/** What is expected of an installation. */
export interface Demand {
  readonly clicksPerDay: number;
  /** How many times the mean the busiest second has. */
  readonly peak: number;
  /** Edges in all regions together. */
  readonly edges: number;
  /** How long Kafka, or the way to it, may be away without a click being refused. */
  readonly outageHours: number;
  /** How long it may then take until everything is stored. */
  readonly catchUpHours: number;
  readonly kafkaHours: number;
  readonly kafkaCopies: number;
  readonly clickHouseDays: number;
  readonly clickHouseCopies: number;
  /** Of a hundred clicks so many are sent to somebody; with two targets each, twice as many. */
  readonly deliveriesPercent: number;
}

/** Bytes are those to buy; what they have to hold is less. */
export interface Plan {
  readonly clicksPerSecond: { readonly mean: number; readonly peak: number };
  /** Over all edges. */
  readonly edgeCores: number;
  readonly journal: { readonly bytesPerEdge: number; readonly volumeBytesPerEdge: number };
  readonly kafkaBytes: number;
  readonly partitions: number;
  readonly ingesters: number;
  readonly clickHouse: { readonly rowsPerDay: number; readonly bytes: number };
  readonly deliveriesPerSecond: number;
  readonly dispatchers: number;
  /** What this does not hold for. */
  readonly warnings: readonly string[];
}

/** A process that has more to do than this has nothing left for a bad day. */
const load = 0.6;
/** Real clicks vary more than those that were measured, and a merge needs room for what it makes beside what it reads. */
const spare = 2;
/** One may be restarted. */
const least = 2;
/** What `sluice setup` makes; partitions are never changed afterwards, so there are more than are needed. */
const leastPartitions = 24;
const partitionsPerIngester = 3;
/** JOURNAL_RESERVE, and what a file system keeps for itself. */
const reserveBytes = 512 * 1024 ** 2;
const usable = 0.93;

export function plan(demand: Demand): Plan {
  const { clicksPerDay, edges, outageHours } = demand;
  const mean = clicksPerDay / 86_400;
  const peak = mean * demand.peak;
  // An outage may fall on the busiest hours, but no day has more clicks than it has.
  const missed = Math.min(peak * outageHours * 3_600, clicksPerDay * Math.ceil(outageHours / 24));
  // The others have the clicks of one that is away.
  const journalBytes = (missed * measured.journalBytes) / Math.max(1, edges - 1);
  const deliveriesPerSecond = (peak * demand.deliveriesPercent) / 100;
  const ingesters = atLeast(
    least,
    (peak + missed / (demand.catchUpHours * 3_600)) / (measured.storedPerSecond * load),
  );
  // What is passed on is in a second topic.
  const inKafka = (clicksPerDay / 24) * demand.kafkaHours * (1 + Math.min(1, demand.deliveriesPercent / 100));
  return {
    clicksPerSecond: { mean, peak },
    edgeCores: atLeast(least, peak / (measured.redirectsPerSecond * load)),
    journal: { bytesPerEdge: journalBytes, volumeBytesPerEdge: (journalBytes + reserveBytes) / usable },
    kafkaBytes: inKafka * measured.kafkaBytes * spare * demand.kafkaCopies,
    partitions: Math.max(leastPartitions, ingesters * partitionsPerIngester),
    ingesters,
    clickHouse: {
      rowsPerDay: clicksPerDay,
      bytes: clicksPerDay * demand.clickHouseDays * measured.rowBytes * spare * demand.clickHouseCopies,
    },
    deliveriesPerSecond,
    dispatchers:
      deliveriesPerSecond === 0
        ? 0
        : atLeast(least, deliveriesPerSecond / (measured.deliveredPerSecond * load)),
    warnings: warningsOf(demand, deliveriesPerSecond),
  };
}

function warningsOf(
  { edges, outageHours, catchUpHours, kafkaHours }: Demand,
  deliveriesPerSecond: number,
): string[] {
  const warnings: string[] = [];
  if (edges < 2) warnings.push("with one edge visitors get no answer while it is replaced");
  if (kafkaHours < outageHours + catchUpHours)
    warnings.push(
      "Kafka forgets clicks sooner than a store that was away as long as Kafka may be has caught up",
    );
  if (deliveriesPerSecond > measured.parkedPerSecond)
    warnings.push("with all endpoints failing at once, more would have to be parked than one Postgres takes");
  return warnings;
}

function atLeast(smallest: number, needed: number): number {
  return Math.max(smallest, Math.ceil(needed));
}
