import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "./benchmark.ts";
import { environmentOf } from "./config.ts";
import { onCore } from "./program.ts";

/** Another server that redirects, to compare ours with. */
export interface Peer extends AsyncDisposable {
  readonly port: number;
}

export interface PeerOptions {
  readonly command: readonly string[];
  readonly port: number;
  readonly core: number | undefined;
  /** A link that it redirects, where not everything is one. */
  readonly visit?: { readonly domain: string; readonly slug: string };
}

/** Starts one and resolves when it redirects. Rejects when it does not within ten seconds. */
export async function startPeer(
  { command, port, core, visit = { domain: "localhost", slug: "" } }: PeerOptions,
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
    while (!(await redirects(port, visit))) await delay(20, undefined, { signal: deadline });
    return peer;
  } catch (error) {
    await peer[Symbol.asyncDispose]();
    throw new Error(`${command[0]} did not start`, { cause: error });
  }
}

async function redirects(port: number, { domain, slug }: { domain: string; slug: string }): Promise<boolean> {
  // `fetch` sends no Host of our choice.
  return await new Promise((resolve) => {
    const options = { port, path: `/${slug}`, headers: { Host: domain }, agent: false };
    get(options, (response) => resolve(response.resume().statusCode === 302)).on("error", () =>
      resolve(false),
    );
  });
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
