import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "./benchmark.ts";
import { environmentOf } from "./config.ts";
import { onCore } from "./program.ts";

/** Another server that redirects, to compare ours with. */
export interface Peer extends AsyncDisposable {
  readonly port: number;
}

/** Starts one and resolves when it redirects. Rejects when it does not within ten seconds. */
export async function startPeer(
  { command, port, core }: { command: readonly string[]; port: number; core: number | undefined },
  bench: Bench,
): Promise<Peer> {
  const [program = "", ...args] = onCore(core, command);
  const child = spawn(program, args, { env: environmentOf({}), stdio: "ignore" });
  const ended = new Promise<void>((resolve) =>
    child.once("exit", () => resolve()).once("error", () => resolve()),
  );
  const peer = {
    port,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
  try {
    const deadline = AbortSignal.any([bench.signal, AbortSignal.timeout(10_000)]);
    while (!(await redirects(port))) await delay(20, undefined, { signal: deadline });
    return peer;
  } catch (error) {
    await peer[Symbol.asyncDispose]();
    throw new Error(`${command[0]} did not start`, { cause: error });
  }
}

async function redirects(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, { redirect: "manual" });
    await response.body?.cancel();
    return response.status === 302;
  } catch {
    return false;
  }
}

/** For servers that cannot be asked which port they took. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
