import { expect, test } from "vitest";

import { type Board, boardJson } from "./boards/board.ts";
import { business } from "./boards/business.ts";
import { catchUp } from "./boards/catch-up.ts";
import { onCall } from "./boards/on-call.ts";
import { webhooks } from "./boards/webhooks.ts";
import { knownMetrics } from "./known-metrics.ts";
import { queryProblems } from "./query-problems.ts";

const boards = Object.entries({ "on-call": onCall, "catch-up": catchUp, webhooks, business });

/** What the rules make: `redirect:…` is checked with them, and with the boards' own queries in the end-to-end tests. */
const recorded = new Set(["redirect:failed:ratio_rate5m", "redirect:slow:ratio_rate5m"]);

test.each(boards)(
  "the file of the board %s is what its code gives (vitest --update writes it)",
  async (name, board) => {
    const json = `${JSON.stringify(boardJson(board), undefined, 1)}\n`;
    await expect(json).toMatchFileSnapshot(`../grafana/dashboards/${name}.json`);
  },
);

test.each(boards)(
  "every series, label and value that the board %s names is some app's",
  async (_name, board) => {
    const known = await knownMetrics();
    const problems = queriesOf(board).flatMap((query) =>
      "expr" in query ? queryProblems(query.expr, known, recorded) : [],
    );
    expect(problems).toEqual([]);
  },
);

test.each(boards)("the panels of the board %s fill its rows and do not run over", (_name, board) => {
  const widths = board.rows.map(({ panels }) => panels.reduce((sum, { width }) => sum + width, 0));
  expect(widths).toEqual(board.rows.map(() => 24));
});

function queriesOf(board: Board) {
  return board.rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries));
}
