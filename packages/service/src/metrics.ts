import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

/**
 * A registry in which asking twice for a name gives the same metric, so that two adapters opened in one process
 * share theirs. Names in base units (`_seconds`, `_bytes`, `_total`); labels from closed sets.
 */
export interface Metrics {
  /**
   * A counter whose labels' values are given is there from the start, at 0 for each combination: what first appears with
   * its first event shows no increase, and an alert cannot tell "never" from "not measured".
   */
  counter(name: string, help: string, labels?: readonly string[] | KnownLabels): Counter;
  gauge(name: string, help: string, labelNames?: readonly string[]): Gauge;
  /** `buckets` in the metric's own unit, ascending. */
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames?: readonly string[],
  ): Histogram;
  /** The text that Prometheus scrapes, and its content type. */
  render(): Promise<{ contentType: string; body: string }>;
}

/** The values that a label may have, by its name. */
export type KnownLabels = Readonly<Record<string, readonly string[]>>;

/**
 * By how much turns of the event loop are late is measured so often. Each measurement wakes the process: at prom-client's
 * own 10 ms that is most of what an idle one does. The interval is part of what `nodejs_eventloop_lag_…` shows.
 */
const eventLoopEveryMs = 100;

/** With `ofProcess`, the process's own figures too (memory, event loop delay, garbage collection, open files). */
export function createMetrics({ ofProcess = false } = {}): Metrics {
  const registry = new Registry();
  if (ofProcess)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopEveryMs });
  const known = new Map<string, Counter | Gauge | Histogram>();
  function once<M extends Counter | Gauge | Histogram>(
    name: string,
    kind: new (...args: never[]) => M,
    make: () => M,
  ): M {
    const existing = known.get(name);
    if (existing instanceof kind) return existing;
    const made = make();
    known.set(name, made);
    return made;
  }
  return {
    counter: (name, help, labels = []) =>
      once(name, Counter, () => {
        const labelNames = isKnown(labels) ? Object.keys(labels) : labels;
        const counter = new Counter({ name, help, labelNames, registers: [registry] });
        if (isKnown(labels)) for (const each of combinations(labels)) counter.inc(each, 0);
        return counter;
      }),
    gauge: (name, help, labelNames = []) =>
      once(name, Gauge, () => new Gauge({ name, help, labelNames, registers: [registry] })),
    histogram: (name, help, buckets, labelNames = []) =>
      once(
        name,
        Histogram,
        () => new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] }),
      ),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function isKnown(labels: readonly string[] | KnownLabels): labels is KnownLabels {
  return !Array.isArray(labels);
}

function combinations(labels: KnownLabels): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (some, [name, values]) => some.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  );
}
