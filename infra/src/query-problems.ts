import type { KnownMetrics } from "./known-metrics.ts";
import { groupingLabels, selectorsOf } from "./promql.ts";

/** Labels that Prometheus adds to everything it scrapes. */
const added = ["job", "instance"];

/** What a query names that no app has: a series, a label, a label's value. `recorded` are the names that rules make. */
export function queryProblems(query: string, known: KnownMetrics, recorded: ReadonlySet<string>): string[] {
  const selectors = selectorsOf(query);
  const usable = new Set(added);
  const problems: string[] = [];
  for (const { name, matchers } of selectors) {
    const labels = known.labels.get(name);
    if (labels === undefined && !recorded.has(name)) problems.push(`no series ${name}`);
    for (const label of labels ?? []) usable.add(label);
    for (const [label, value] of matchers) {
      if (added.includes(label)) continue;
      if (labels?.has(label) !== true) problems.push(`no label ${label} of ${name}`);
      // What Kubernetes names and phases are called, no source of ours says.
      else if (
        label !== "le" &&
        !name.startsWith("kube_") &&
        value !== "" &&
        name !== "ALERTS" &&
        !known.saysWord(value)
      )
        problems.push(`no ${label}="${value}" of ${name}`);
    }
  }
  for (const label of groupingLabels(query)) if (!usable.has(label)) problems.push(`no label ${label}`);
  return problems;
}
