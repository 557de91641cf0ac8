import { LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkAreaComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

import type { Column, Moment } from "./curve.ts";

use([LineChart, GridComponent, LegendComponent, MarkAreaComponent, TitleComponent, SVGRenderer]);

const width = 800;
const panelHeight = 150;
const gap = 62;
const top = 56;

/** The curve as an SVG: a panel for each unit, one below the other, and the phases as stripes behind them. */
export function draw(
  title: string,
  { columns, moments }: { readonly columns: readonly Column[]; readonly moments: readonly Moment[] },
): string {
  const panels = [...Map.groupBy(columns, ({ panel }) => panel)];
  const height = top + panels.length * (panelHeight + gap);
  const lastSecond = Math.ceil(moments.at(-1)?.seconds ?? 1);
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  chart.setOption({
    animation: false,
    backgroundColor: "#fff",
    title: [
      { text: title, left: 10, top: 8 },
      ...panels.map(([panel], index) => ({
        text: panel,
        left: 10,
        top: topOf(index) - 26,
        textStyle: { fontSize: 12, fontWeight: "normal" },
      })),
    ],
    legend: panels.map(([, { length }], index) => ({
      show: length > 1,
      right: 20,
      top: topOf(index) - 28,
      data: panels[index]?.[1].map(({ name }) => name),
      itemHeight: 2,
    })),
    grid: panels.map((_, index) => ({ left: 70, right: 20, top: topOf(index), height: panelHeight })),
    xAxis: panels.map((_, gridIndex) => ({
      type: "value",
      gridIndex,
      min: 0,
      max: lastSecond,
      name: "s",
      splitLine: { show: false },
    })),
    yAxis: panels.map((_, gridIndex) => ({ type: "value", gridIndex, min: 0 })),
    series: panels.flatMap(([, inPanel], index) =>
      inPanel.map(({ name }, line) => ({
        type: "line",
        name,
        xAxisIndex: index,
        yAxisIndex: index,
        showSymbol: false,
        data: moments.map(({ seconds, values }) => [seconds.toFixed(1), values.get(name) ?? "-"]),
        ...(line === 0 && { markArea: stripes(moments, index === 0) }),
      })),
    ),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

function topOf(panel: number): number {
  return top + 30 + panel * (panelHeight + gap);
}

/** One for each phase but the first and the last; the names stand in one panel only. */
function stripes(moments: readonly Moment[], named: boolean) {
  const phases = [...Map.groupBy(moments, ({ phase }) => phase)].slice(1, -1);
  const colours = ["#f6d5d5", "#dcefdc", "#f3ecd2", "#dfe7f5"];
  return {
    silent: true,
    label: { show: named, color: "#555", position: "insideTop" },
    data: phases.map(([name, during], index) => [
      {
        name,
        xAxis: during[0]?.seconds.toFixed(1),
        itemStyle: { color: colours[index % colours.length], opacity: 0.6 },
      },
      { xAxis: during.at(-1)?.seconds.toFixed(1) },
    ]),
  };
}
