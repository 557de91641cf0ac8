import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";

import { expect, test } from "vitest";

import { createOutput } from "./output.ts";

function capture() {
  const written: string[] = [];
  return { written, output: createOutput((text) => written.push(text)) };
}

test("what two children print in pieces comes out in whole lines, each under its name", async () => {
  const { written, output } = capture();
  const [one, two] = [new PassThrough(), new PassThrough()];
  output.passOn("one", one);
  output.passOn("two", two);
  one.write("first ");
  two.write("second ");
  one.write("half\nand an end without a newline");
  two.end("half\n");
  one.end();
  await Promise.all([finished(one), finished(two)]);
  await expect.poll(() => written.length).toBe(3);
  const lines = written.map((line) => line.slice("00:00:00.000 ".length).replaceAll(/ +/g, " "));
  expect(lines.toSorted()).toEqual([
    "one and an end without a newline\n",
    "one first half\n",
    "two second half\n",
  ]);
});

test("a service's JSON line becomes its message and its fields", async () => {
  const { written, output } = capture();
  const child = new PassThrough();
  output.passOn("edge-redirect", child);
  child.end(
    '{"level":"warn","time":"1970-01-01T00:00:00.000Z","pid":1,"hostname":"h","name":"edge-redirect","port":8080,"msg":"listening"}\n',
  );
  await finished(child);
  await expect.poll(() => written).toEqual(["00:00:00.000 edge-redirect  warn  listening port=8080\n"]);
});

test("an error keeps its stack, a line each, in one piece", () => {
  const { written, output } = capture();
  output.log("sluice").error({ error: { message: "broken", stack: "Error: broken\n    at here" } }, "failed");
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(/error failed error=broken\n {2}Error: broken\n {6}at here\n$/);
});
