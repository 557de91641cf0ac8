import { expect, test } from "vitest";
import { createRunNotes } from "./run-notes.ts";

test("a run is noted at its first clicks and again after ten minutes, whether or not a note came through", async () => {
  const noted: string[][] = [];
  let fails = true;
  let now = 0;
  const note = async (runs: readonly string[]) => {
    if (fails) throw new Error("away");
    noted.push([...runs]);
  };
  const notes = createRunNotes({ note }, () => now);
  const see = (...runs: string[]) => notes.note(new Set(runs), new AbortController().signal);
  await expect(see("a")).rejects.toThrow("away");
  fails = false;
  await see("a");
  now = 599_999;
  await see("a", "b");
  now = 600_000;
  await see("a", "b");
  expect(noted).toEqual([["a"], ["b"], ["a"]]);
});
