import type { LocalServer } from "@sluice/local-services/server.ts";

/** A server that comes back at its address, some time after it was killed. */
export interface KeptServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  kill(signal: NodeJS.Signals): void;
  /** Kills it now; it is back when that resolves, after what `meanwhile` takes. */
  away(meanwhile: Promise<unknown>): Promise<void>;
}

/** `start` is given the port of the first one when it is called again. */
export async function keepServer(
  start: (at: { port?: number }) => Promise<LocalServer>,
): Promise<KeptServer> {
  let server = await start({});
  const { url, port } = server;
  let restarted = Promise.resolve();
  async function restart(meanwhile: Promise<unknown>): Promise<void> {
    await server.exited;
    await meanwhile;
    server = await start({ port });
  }
  return {
    url,
    port,
    kill: (signal) => server.kill(signal),
    async away(meanwhile) {
      server.kill("SIGKILL");
      restarted = restart(meanwhile);
      await restarted;
    },
    async [Symbol.asyncDispose]() {
      await restarted;
      // Nobody needs what it would hand over.
      server.kill("SIGKILL");
      await server[Symbol.asyncDispose]();
    },
  };
}
