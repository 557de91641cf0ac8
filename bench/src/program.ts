import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Bench, MissingTool } from "./benchmark.ts";
import { environmentOf } from "./config.ts";

const execute = promisify(execFile);

/** Runs a program to its end; resolves to what it printed. Rejects when it fails, or takes longer than `timeoutMs`. */
export async function run(
  [program = "", ...args]: readonly string[],
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<string> {
  const { stdout } = await execute(program, args, { env: environmentOf({}), signal, timeout: timeoutMs });
  return stdout;
}

/** A program of the system's that a benchmark needs. */
export interface Tool {
  readonly name: string;
  readonly debianPackage: string;
  readonly versionFlag: string;
}

/** Notes the tool's version; rejects with a MissingTool that says how to install it. */
export async function requireTool({ name, debianPackage, versionFlag }: Tool, bench: Bench): Promise<void> {
  // Where versions are printed to, and with which exit status, is up to each program.
  const script = 'command -v "$0" > /dev/null || exit 127; "$0" "$1" 2>&1 | head -n 1';
  try {
    const version = await run(["sh", "-c", script, name, versionFlag], {
      signal: bench.signal,
      timeoutMs: 5_000,
    });
    // wrk goes on to its copyright.
    bench.against(version.replace(/ \[.*/, "").trim());
  } catch (error) {
    bench.signal.throwIfAborted();
    throw new MissingTool(`${name} is not installed; on Debian: apt-get install ${debianPackage}`, {
      cause: error,
    });
  }
}

/** The command with its process, and all threads of it, kept to one core; as it is without one. */
export function onCore(core: number | undefined, command: readonly string[]): string[] {
  return core === undefined ? [...command] : ["taskset", "-c", String(core), ...command];
}
