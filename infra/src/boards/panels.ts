import type { Panel, Query } from "./board.ts";

type Unit = NonNullable<Panel["unit"]>;

/** How much passes, a second. */
export function flow(title: string, expr: string): Panel {
  return { title: `${title}, a second`, kind: "stat", width: 4, queries: [{ expr }] };
}

/** One figure that is red from `redFrom` on. */
export function wrong(
  title: string,
  redFrom: number,
  expr: string,
  width: number,
  unit: Unit = "short",
): Panel {
  return { title, kind: "stat", width, unit, redFrom, queries: [{ expr }] };
}

/** How it went; `redFrom` is drawn as a line. */
export function course(
  title: string,
  unit: Unit,
  redFrom: number | undefined,
  queries: readonly Query[],
  width = 4,
): Panel {
  return { title, kind: "timeseries", width, unit, ...(redFrom !== undefined && { redFrom }), queries };
}

/** What so large a share of a histogram's values is below, all processes together. */
export function quantile(share: number, histogram: string): Query {
  return {
    expr: `histogram_quantile(${share}, sum by (le) (rate(${histogram}_bucket[$__rate_interval])))`,
    legend: `${share * 100} %`,
  };
}

/** Events a second by a label. */
export function rateBy(label: string, counter: string): Query {
  return { expr: `sum by (${label}) (rate(${counter}[$__rate_interval]))`, legend: `{{${label}}}` };
}
