import type { Metrics } from "@sluice/service/metrics.ts";

/**
 * Brings the counters and gauges of another thread into this one's registry, from the text that Prometheus would
 * scrape there. Call it with each new text; a thread that starts anew needs a new mirror. Histograms stay behind.
 */
export function createMetricsMirror(metrics: Metrics): (text: string) => void {
  const lastOf = new Map<string, number>();

  return (text) => {
    const help = new Map<string, string>();
    const types = new Map<string, string>();
    for (const line of text.split("\n")) {
      const [, kind, about = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
      if (kind === "HELP") help.set(about, rest);
      else if (kind === "TYPE") types.set(about, rest);
      else mirror(line);
    }

    function mirror(line: string): void {
      const [, name = "", list = "", value = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const now = Number(value);
      const type = types.get(name);
      const labels = parseLabels(list);
      const about = help.get(name) ?? name;
      if (type === "gauge") metrics.gauge(name, about, Object.keys(labels)).set(labels, now);
      if (type !== "counter") return;
      const series = `${name}{${list}}`;
      metrics.counter(name, about, Object.keys(labels)).inc(labels, now - (lastOf.get(series) ?? 0));
      lastOf.set(series, now);
    }
  };
}

function parseLabels(list: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, name = "", value = ""] of list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return labels;
}
