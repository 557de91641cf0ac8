import { setTimeout as delay } from "node:timers/promises";

import type { EdgeProcess } from "./edge-process.ts";

/** What `/readyz` says. */
export async function readyz({ opsPort }: EdgeProcess): Promise<{ ready: boolean; report: unknown }> {
  const response = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
  return { ready: response.ok, report: await response.json() };
}

/** The value of one line of `/metrics`: `name` or `name{label="value"}`. */
export async function metric({ opsPort }: EdgeProcess, series: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${opsPort}/metrics`);
  const line = (await response.text()).split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? Number.NaN);
}

/** Asks again until it is so; rejects when it is not within `withinMs`. */
export async function until(what: string, isSo: () => Promise<boolean>, withinMs = 15_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${what}`);
    await delay(25);
  }
}
