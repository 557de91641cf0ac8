import { expect, test } from "vitest";

import { blocksOf, commandsOf, isRun, problemsOf, statementsOf } from "./blocks.ts";

const fence = "```";

test("comments above a fence say how its block is run, or why it is not", () => {
  const page = `# Page

<!-- or says: no such thing -->
${fence}sh
three
${fence}

<!-- not run: needs a moon -->

${fence}sql
SELECT 1
${fence}

<!-- until Ctrl-C -->
${fence}sh
four
${fence}
`;
  const [first, second, third] = blocksOf(page);
  expect(first).toMatchObject({
    line: 4,
    language: "sh",
    text: "three",
    orSays: "no such thing",
  });
  expect(second).toMatchObject({ notRun: "needs a moon" });
  expect(third).toMatchObject({ untilInterrupted: true, notRun: undefined });
  expect(blocksOf(page).map(isRun)).toEqual([true, false, true]);
  expect(problemsOf(page)).toEqual([]);
});

test("a block that would escape being run is a problem", () => {
  expect(problemsOf(`Text\n\n    sluice live\n\nText`)).toEqual([
    "3: fence it, and say what language it is in",
  ]);
  expect(problemsOf(`${fence}\nls\n${fence}`)).toHaveLength(1);
  expect(problemsOf(`${fence}text\nsluice live\n${fence}`)).toEqual(["1: has commands, so it is `sh`"]);
  expect(problemsOf(`<!-- not run -->\n${fence}sh\nls\n${fence}`)).toHaveLength(1);
});

test("commands and statements end where a reader would say that they do", () => {
  expect(commandsOf("one \\\n  --two\n# a remark\n\nthree")).toEqual(["one   --two", "three"]);
  expect(statementsOf("SELECT 1;  -- first\nSELECT ';'\n  FROM b;")).toEqual([
    "SELECT 1",
    "SELECT ';'\n  FROM b",
  ]);
});
