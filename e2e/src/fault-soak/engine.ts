import type { LocalServer } from "@sluice/local-services/server.ts";

/** A ClickHouse engine that comes back at its address, some time after it was killed. */
export async function keepEngine(start: (at: { port?: number }) => Promise<LocalServer>) {
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
    kill: (signal: NodeJS.Signals) => server.kill(signal),
    /** Kills it now; it is back when that resolves, after what `meanwhile` takes. */
    async away(meanwhile: Promise<unknown>): Promise<void> {
      server.kill("SIGKILL");
      restarted = restart(meanwhile);
      await restarted;
    },
    /** The rows of an answer, with their columns apart by tabs. */
    async ask(query: string): Promise<string[]> {
      const response = await fetch(url, { method: "POST", body: query, signal: AbortSignal.timeout(60_000) });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return text.split("\n").filter((line) => line !== "");
    },
    async [Symbol.asyncDispose]() {
      await restarted;
      server.kill("SIGCONT");
      await server[Symbol.asyncDispose]();
    },
  };
}

export type Engine = Awaited<ReturnType<typeof keepEngine>>;
