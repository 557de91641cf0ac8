import { expect, test } from "vitest";

import { groupingLabels, selectorsOf } from "./promql.ts";
import { queryProblems } from "./query-problems.ts";

test("all series that a query reads are found, and nothing else", () => {
  const query = `sum by (job, le) (rate(a_bucket{le="0.5", k!="x|y"}[5m])) / 100e6 > bool 1.5
    or b:c:d unless on (k) b_total offset 1h and topk(3, {__name__=~"e|f"}) == 0`;
  expect(selectorsOf(query)).toEqual([
    {
      name: "a_bucket",
      matchers: [
        ["le", "0.5"],
        ["k", "x"],
        ["k", "y"],
      ],
    },
    { name: "b:c:d", matchers: [] },
    { name: "b_total", matchers: [] },
    { name: "e", matchers: [] },
    { name: "f", matchers: [] },
  ]);
  expect(groupingLabels(query)).toEqual(["job", "le", "k"]);
});

test("a series, a label and a label's value that no app has are each told", () => {
  const known = {
    labels: new Map([["a_total", new Set(["reason"])]]),
    saysWord: (word: string) => word === "full",
  };
  const problems = (query: string) => queryProblems(query, known, new Set(["a:rate"]));
  expect(problems('sum by (job, reason) (a_total{reason="full", job="edge"}) > a:rate')).toEqual([]);
  expect(problems("b_total")).toEqual(["no series b_total"]);
  expect(problems('a_total{why="full"}')).toEqual(["no label why of a_total"]);
  expect(problems('a_total{reason=~"full|ful"}')).toEqual(['no reason="ful" of a_total']);
  expect(problems("sum by (why) (a_total)")).toEqual(["no label why"]);
});
