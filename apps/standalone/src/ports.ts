import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { ServiceError } from "@sluice/service/service-error.ts";

/**
 * Resolves when nothing listens on any of these ports, by the variable that chooses them. Rejects after `waitMs`
 * with one ServiceError that names each port and its variable: a server's own message would name neither.
 */
export async function waitForPorts(
  ports: Readonly<Record<string, number>>,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const taken: string[] = [];
    for (const [variable, port] of Object.entries(ports)) {
      const why = await listen(port);
      if (why !== undefined)
        taken.push(`port ${port} ${why}: end what uses it, or choose another by ${variable}`);
    }
    if (taken.length === 0) return;
    if (performance.now() >= deadline) throw new ServiceError("address", taken.join("\n"));
    await delay(100, undefined, { signal });
  }
}

/** What stands in the way of listening there on every address; undefined when nothing does. */
async function listen(port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port);
    await once(server, "listening");
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return code === "EADDRINUSE" ? "is in use" : `cannot be used (${code})`;
  } finally {
    server.close();
  }
}
