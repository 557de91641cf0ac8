import type { Plan } from "./plan.ts";

/** A line each: what, how much, and what it is made of. */
export function planText({ clicksPerSecond, journal, clickHouse, warnings, ...plan }: Plan): string {
  const rows: [what: string, value: string, note: string][] = [
    ["clicks", `${count(clicksPerSecond.mean)}/s`, `${count(clicksPerSecond.peak)}/s in the busiest second`],
    ["edges", `${plan.edgeCores} cores`, "all edges together"],
    [
      "journal",
      bytes(journal.volumeBytesPerEdge),
      `a volume for each edge, JOURNAL_BUDGET=${Math.ceil(journal.bytesPerEdge / 1024 ** 3)}GiB`,
    ],
    ["Kafka", bytes(plan.kafkaBytes), "all copies on all brokers"],
    ["partitions", String(plan.partitions), "of each topic"],
    ["ingesters", String(plan.ingesters), "one core each"],
    ["ClickHouse", bytes(clickHouse.bytes), `all copies; ${count(clickHouse.rowsPerDay)} rows a day`],
    [
      "dispatchers",
      String(plan.dispatchers),
      `${count(plan.deliveriesPerSecond)} deliveries/s in the busiest second`,
    ],
  ];
  const lines = rows.map(([what, value, note]) => `${what.padEnd(12)} ${value.padStart(10)}   ${note}`);
  return [...lines, ...warnings.map((warning) => `warning: ${warning}`)].join("\n");
}

function count(value: number): string {
  return value < 10 ? String(Number(value.toPrecision(2))) : Math.round(value).toLocaleString("en-US");
}

function bytes(value: number): string {
  const [unit, size] = value >= 1024 ** 4 ? (["TiB", 1024 ** 4] as const) : (["GiB", 1024 ** 3] as const);
  const amount = value / size;
  return `${amount < 10 ? amount.toFixed(1) : Math.ceil(amount)} ${unit}`;
}
