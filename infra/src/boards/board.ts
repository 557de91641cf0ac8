// What our boards are made of, and the JSON that Grafana reads of it: no more than differs from its own defaults.

export interface Board {
  /** Also the name of its file and its address: `/d/<uid>`. */
  readonly uid: string;
  readonly title: string;
  /** How far back it looks when it is opened: `6h`. */
  readonly from: string;
  readonly refresh: string;
  /** A choice of workspaces at the top, `$workspace` in the SQL. */
  readonly byWorkspace?: true;
  /** Rows from top to bottom, each with its panels from left to right. */
  readonly rows: readonly Row[];
}

export interface Row {
  readonly title?: string;
  /** In Grafana's grid, where a panel is 1 to 24 wide. */
  readonly height: number;
  readonly panels: readonly Panel[];
}

export interface Panel {
  readonly title: string;
  /** Said where the title does not say it all. */
  readonly about?: string;
  readonly kind: "stat" | "timeseries" | "table" | "barchart";
  readonly width: number;
  readonly unit?: "s" | "bytes" | "percentunit" | "reqps" | "short" | "none";
  /** From this value on it is red. */
  readonly redFrom?: number;
  readonly queries: readonly Query[];
}

/** PromQL, with what its series are called, or SQL; this is all that tells the data source. */
export type Query = { readonly expr: string; readonly legend?: string } | { readonly sql: string };

const prometheus = { type: "prometheus", uid: "prometheus" };
const clickhouse = { type: "grafana-clickhouse-datasource", uid: "clickhouse" };

/** The board as Grafana provisions it. */
export function boardJson({ uid, title, from, refresh, byWorkspace, rows }: Board): object {
  let y = 0;
  const panels = rows.flatMap((row) => {
    const heading =
      row.title === undefined ? [] : [{ type: "row", title: row.title, gridPos: { x: 0, y, w: 24, h: 1 } }];
    y += heading.length;
    let x = 0;
    const placed = row.panels.map((panel) => {
      const gridPos = { x, y, w: panel.width, h: row.height };
      x += panel.width;
      return { ...panelJson(panel), gridPos };
    });
    y += row.height;
    return [...heading, ...placed];
  });
  return {
    uid,
    title,
    tags: ["sluice"],
    // That of Grafana 10; newer ones bring it up to their own as they load it.
    schemaVersion: 39,
    time: { from: `now-${from}`, to: "now" },
    refresh,
    // One cursor for all panels.
    graphTooltip: 1,
    links: [{ type: "dashboards", title: "Boards", tags: ["sluice"], keepTime: true }],
    templating: { list: byWorkspace ? [workspaces] : [] },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel })),
  };
}

const workspaces = {
  type: "query",
  name: "workspace",
  label: "Workspace",
  datasource: clickhouse,
  query: "SELECT DISTINCT workspace_id FROM clicks WHERE ts > now() - INTERVAL 90 DAY ORDER BY workspace_id",
  multi: true,
  includeAll: true,
  current: { text: "All", value: "$__all" },
  // Asked for again whenever the board is opened.
  refresh: 1,
};

function panelJson({ kind, title, about, unit = "short", redFrom, queries }: Panel): object {
  const red = redFrom === undefined ? [] : [{ color: "red", value: redFrom }];
  // A figure that cannot be wrong is no more green than red.
  const calm = redFrom === undefined ? "text" : "green";
  return {
    type: kind,
    title,
    ...(about !== undefined && { description: about }),
    datasource: queries.some((query) => "sql" in query) ? clickhouse : prometheus,
    targets: queries.map((query, index) => targetJson(query, kind, String.fromCodePoint(65 + index))),
    fieldConfig: {
      defaults: {
        unit,
        thresholds: { mode: "absolute", steps: [{ color: calm, value: null }, ...red] },
        ...(kind === "stat" && { color: { mode: "thresholds" } }),
        ...(kind === "timeseries" && {
          min: 0,
          custom: { fillOpacity: 10, ...(redFrom !== undefined && { thresholdsStyle: { mode: "line" } }) },
        }),
      },
      overrides: [],
    },
    options: optionsOf(kind, redFrom),
  };
}

function targetJson(query: Query, kind: Panel["kind"], refId: string): object {
  if ("sql" in query) {
    const queryType = kind === "timeseries" ? "timeseries" : "table";
    // The plug-in's own numbers for the two: 0 and 1.
    const format = queryType === "timeseries" ? 0 : 1;
    return { refId, datasource: clickhouse, editorType: "sql", queryType, format, rawSql: query.sql };
  }
  const asTable = kind === "table" ? { format: "table", instant: true } : {};
  const { expr, legend } = query;
  return { refId, datasource: prometheus, expr, legendFormat: legend ?? "__auto", ...asTable };
}

function optionsOf(kind: Panel["kind"], redFrom: number | undefined): object {
  const options = {
    stat: {
      reduceOptions: { calcs: ["lastNotNull"] },
      colorMode: redFrom === undefined ? "value" : "background",
      graphMode: "area",
    },
    timeseries: {
      tooltip: { mode: "multi", sort: "desc" },
      legend: { displayMode: "list", placement: "bottom" },
    },
    table: {},
    barchart: { orientation: "horizontal", legend: { showLegend: false } },
  };
  return options[kind];
}
