import { fileURLToPath } from "node:url";
import type { Bench } from "./benchmark.ts";
import { onCore, run } from "./program.ts";

export const wrkTool = { name: "wrk", debianPackage: "wrk", versionFlag: "-v" };

const script = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** As many as the goals are set for. */
export const connections = 64;

/**
 * As many requests as the server answers, over 64 connections that each wait for their answer; resolves to requests a
 * second. Rejects when an answer is an error or a connection fails: then the server did other work than was meant.
 */
export async function wrk(
  load: { port: number; requestsPath: string; seconds: number; core?: number | undefined },
  { signal }: Pick<Bench, "signal">,
): Promise<number> {
  const { port, requestsPath, seconds, core } = load;
  const flags = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", script];
  const command = onCore(core, ["wrk", ...flags, `http://127.0.0.1:${port}/`, "--", requestsPath]);
  const output = await run(command, { signal, timeoutMs: (seconds + 10) * 1_000 });
  const [trouble] = /^ *(Non-2xx|Socket errors).*$/m.exec(output) ?? [];
  if (trouble !== undefined) throw new Error(`wrk: ${trouble.trim()}`);
  return Number(/Requests\/sec: +([\d.]+)/.exec(output)?.[1]);
}
