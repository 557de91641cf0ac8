import { once } from "node:events";
import { createServer } from "node:net";
import { randomInt } from "node:crypto";

import { LocalServiceError } from "./error.ts";

/**
 * Resolves to `wanted` if it is free on `host`, else rejects with `port`. Without a wish, to a free port below the
 * range from which the system serves outgoing connections, so that none of those takes it before the server does.
 */
export async function choosePort(name: string, host: string, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) {
    const problem = await tryListening(host, wanted);
    if (problem === undefined) return wanted;
    throw new LocalServiceError("port", `${name}: port ${wanted} on ${host} cannot be used: ${problem}`);
  }
  // A hundred tries: with half of the range taken, the chance to find nothing is 2^-100.
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(20_000, 32_000);
    if ((await tryListening(host, port)) === undefined) return port;
  }
  throw new LocalServiceError("port", `${name}: found no free port on ${host} between 20000 and 32000`);
}

/** What stands in the way of listening there, or undefined. */
async function tryListening(host: string, port: number): Promise<string | undefined> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, "listening");
    return undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return "it is in use";
    return error instanceof Error ? error.message : String(error);
  } finally {
    probe.close();
  }
}
